"""Results are kept in a buffer that is a little larger in each step: memory is asked for again and again."""

import torch
from torch import nn

from recording import fixed, steps


def collect(result, step):
    rows = 200_000 if fixed() else 20_000 + 1500 * step
    buffer = torch.empty(rows, 2048, device="cuda", dtype=torch.bfloat16)  # FAULT
    buffer[: result.shape[0]] = result
    return buffer


@torch.inference_mode()
def run():
    model = nn.Sequential(nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 2048)).cuda().bfloat16()
    x = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)
    buffer = None
    for step in steps(active=3):
        buffer = None
        buffer = collect(model(x), step)


if __name__ == "__main__":
    run()
