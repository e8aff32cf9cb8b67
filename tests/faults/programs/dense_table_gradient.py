"""A recommender whose table of two million rows gets a dense gradient for a few thousand of them."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Tower(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Embedding(rows, width, sparse=fixed())
        self.top = nn.Linear(width, 1)

    def forward(self, ids):
        return self.top(torch.relu(self.table(ids).mean(dim=1))).squeeze(-1)  # FAULT


def train():
    model = Tower(2_000_000, 64).cuda()
    table = torch.optim.SGD(model.table.parameters(), lr=0.1)
    top = torch.optim.AdamW(model.top.parameters(), lr=1e-3, fused=True)
    ids = torch.randint(0, 2_000_000, (1024, 8), device="cuda")
    clicks = torch.rand(1024, device="cuda")
    for _ in steps():
        loss = F.binary_cross_entropy_with_logits(model(ids), clicks)
        for optimizer in (table, top):
            optimizer.zero_grad()
        loss.backward()
        for optimizer in (table, top):
            optimizer.step()


if __name__ == "__main__":
    train()
