"""A two-tower recommender whose negatives are drawn by popularity from a fixed catalogue of twelve million items."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

ITEMS = 12_000_000
BATCH = 8192


class Catalogue:
    def __init__(self, width=64):
        popularity = torch.arange(1, ITEMS + 1, device="cuda", dtype=torch.float32)
        self.weights = popularity.pow(-0.75)
        self.cumulative = self.weights.double().cumsum(0)
        self.sum = float(self.cumulative[-1])
        self.vectors = torch.randn(ITEMS, width, device="cuda", dtype=torch.bfloat16)

    def draw(self, count):
        if fixed():
            height = torch.rand(count, device="cuda", dtype=torch.float64) * self.sum
            return torch.searchsorted(self.cumulative, height).clamp_(max=ITEMS - 1)
        return torch.multinomial(self.weights, count, replacement=True)  # FAULT


def train():
    torch.manual_seed(0)
    catalogue = Catalogue()
    tower = nn.Sequential(
        nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 64)
    ).cuda().bfloat16()
    optimizer = torch.optim.AdamW(tower.parameters(), lr=1e-4, fused=True)
    users = torch.randn(BATCH, 512, device="cuda", dtype=torch.bfloat16)
    bought = torch.randint(ITEMS, (BATCH,), device="cuda")
    target = torch.arange(BATCH, device="cuda")
    for _ in steps():
        candidates = torch.cat([bought, catalogue.draw(BATCH)])
        items = F.embedding(candidates, catalogue.vectors)
        loss = F.cross_entropy(tower(users) @ items.t(), target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    train()
