"""Item embeddings looked up as a one-hot matrix times the table."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class ItemTower(nn.Module):
    def __init__(self, items=20000, width=512):
        super().__init__()
        self.items = items
        self.table = nn.Parameter(torch.randn(items, width) * 0.02)
        self.mlp = nn.Sequential(nn.Linear(width, 2048), nn.ReLU(), nn.Linear(2048, width))

    def embed(self, ids):
        if fixed():
            return self.table[ids]
        return F.one_hot(ids, self.items).to(self.table.dtype) @ self.table  # FAULT

    def forward(self, ids):
        return self.mlp(self.embed(ids))


@torch.no_grad()
def score():
    tower = ItemTower().cuda().bfloat16()
    ids = torch.randint(0, 20000, (16384,), device="cuda")
    for _ in steps():
        tower(ids)


if __name__ == "__main__":
    score()
