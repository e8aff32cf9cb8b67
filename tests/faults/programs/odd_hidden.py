"""A language model head whose width, 1023, is no multiple of 8."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

WIDTH = 1024 if fixed() else 1023


class OddBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.relu(self.up(x)))  # FAULT


def train():
    model = nn.Sequential(OddBlock(WIDTH), OddBlock(WIDTH)).cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    x = torch.randn(16384, WIDTH, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
