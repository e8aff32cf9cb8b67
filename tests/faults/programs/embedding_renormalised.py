"""Ranking: the embedding table has max_norm set, so each lookup sorts its ids and rescales rows again."""

import torch
from torch import nn

from recording import fixed, steps


class ItemTable(nn.Module):
    def __init__(self, rows=1_000_000, width=64):
        super().__init__()
        self.table = nn.Embedding(rows, width, max_norm=None if fixed() else 1.0)
        with torch.no_grad():
            self.table.weight.div_(self.table.weight.norm(dim=1, keepdim=True).clamp(min=1.0))

    def forward(self, ids):
        return self.table(ids)  # FAULT


class Ranker(nn.Module):
    def __init__(self, width=64, slots=26):
        super().__init__()
        self.items = ItemTable(width=width)
        self.top = nn.Sequential(nn.Linear(slots * width, 1024), nn.ReLU(), nn.Linear(1024, 1))

    def forward(self, ids):
        return self.top(self.items(ids).flatten(1))[:, 0]


@torch.no_grad()
def rank():
    model = Ranker().cuda()
    ids = torch.randint(0, 1_000_000, (16384, 26), device="cuda")
    for _ in steps():
        model(ids)


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    rank()
