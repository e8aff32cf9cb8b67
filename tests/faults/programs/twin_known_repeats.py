"""Near-twin of repeats that the host waits for: their total is given."""

import torch
from torch import nn

from recording import steps


@torch.inference_mode()
def run():
    layers = nn.ModuleList(nn.Linear(2048, 2048, bias=False) for _ in range(4)).cuda().bfloat16()
    counts = torch.full((256,), 64, device="cuda")
    nodes = torch.randn(256 * 64, 2048, device="cuda", dtype=torch.bfloat16)
    graphs = torch.randn(256, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        y = nodes
        for layer in layers:
            y = layer(y)
        y.add_(graphs.repeat_interleave(counts, dim=0, output_size=len(y)))


if __name__ == "__main__":
    run()
