"""A table of a few thousand rows gets sparse gradients, which cost a sort and a wait for their number in each step."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Ranker(nn.Module):
    def __init__(self, rows=4000, width=64):
        super().__init__()
        self.items = nn.Embedding(rows, width, sparse=not fixed())
        self.users = nn.Embedding(rows, width, sparse=not fixed())

    def forward(self, items, users):
        return (self.items(items) * self.users(users)).sum(-1)  # FAULT


def update(optimizer):
    optimizer.step()  # FAULT


def train():
    model = Ranker().cuda()
    if fixed():
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    else:
        optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=1e-3)
    items = torch.randint(0, 4000, (8192,), device="cuda")
    users = torch.randint(0, 4000, (8192,), device="cuda")
    clicks = torch.rand(8192, device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(model(items, users), clicks).backward()
        update(optimizer)


if __name__ == "__main__":
    train()
