"""Observations come as nested lists of numbers and become a tensor in each step."""

import torch
from torch import nn

from recording import fixed, steps


def to_tensor(rows):
    return torch.tensor(rows, dtype=torch.float32).cuda()  # FAULT


@torch.inference_mode()
def act():
    policy = nn.Sequential(nn.Linear(128, 1024), nn.Tanh(), nn.Linear(1024, 8)).cuda()
    rows = [[float(i * j % 7) for j in range(128)] for i in range(512)]
    kept = torch.tensor(rows, device="cuda")
    for _ in steps(active=3):
        policy(kept if fixed() else to_tensor(rows))


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    act()
