"""Tabular model with residual blocks: wide products in bfloat16, a fused optimizer; nothing to repair."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Residual(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(F.relu(self.up(x)))


class TabularNet(nn.Module):
    def __init__(self, columns=512, width=2048):
        super().__init__()
        self.enter = nn.Linear(columns, width)
        self.blocks = nn.Sequential(*[Residual(width) for _ in range(3)])
        self.leave = nn.Linear(width, 16)

    def forward(self, rows):
        return self.leave(self.blocks(self.enter(rows)))


def train():
    model = TabularNet().cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    rows = torch.randn(32768, 512, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 16, (32768,), device="cuda")
    for _ in steps():
        loss = F.cross_entropy(model(rows), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
