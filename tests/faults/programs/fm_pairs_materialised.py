"""Factorization machine: the products of all pairs of features are written to memory and then summed."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class FactorizationMachine(nn.Module):
    def __init__(self, fields):
        super().__init__()
        self.register_buffer("upper", torch.ones(fields, fields).triu(1)[None, :, :, None])

    def forward(self, x):
        if fixed():
            return 0.5 * (x.sum(1).square() - x.square().sum(1))
        pairs = x[:, :, None] * x[:, None]  # FAULT
        return (pairs * self.upper).sum((1, 2))


class DeepFM(nn.Module):
    def __init__(self, fields=32, rows=200_000, width=16):
        super().__init__()
        self.table = nn.Embedding(rows, width)
        self.pairs = FactorizationMachine(fields)
        self.deep = nn.Sequential(nn.Linear(fields * width, 512), nn.ReLU(), nn.Linear(512, width))
        self.out = nn.Linear(2 * width, 1)

    def forward(self, ids):
        x = self.table(ids)
        return self.out(torch.cat([self.pairs(x), self.deep(x.flatten(1))], 1))[:, 0]


def train():
    model = DeepFM().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, fused=True)
    ids = torch.randint(0, 200_000, (8192, 32), device="cuda")
    clicked = torch.rand(8192, device="cuda").round()
    for _ in steps():
        loss = F.binary_cross_entropy_with_logits(model(ids), clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
