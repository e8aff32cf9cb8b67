"""Dropout from single ops: random numbers, a comparison, a cast, two products."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def drop(x, share):
    if fixed():
        return F.dropout(x, share)
    kept = (torch.rand_like(x) > share).to(x.dtype)  # FAULT
    return x * kept / (1 - share)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, width, bias=False)

    def forward(self, x):
        return x + drop(F.relu(self.up(x)), 0.1)


def train():
    model = nn.Sequential(*[Block(2048) for _ in range(3)]).cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x = torch.randn(16384, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
