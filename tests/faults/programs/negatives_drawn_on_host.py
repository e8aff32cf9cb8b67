"""Recommender training: negative items are drawn with NumPy and copied to the GPU in each step."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

ITEMS = 1_000_000


class TwoTower(nn.Module):
    def __init__(self, users=500_000, width=64):
        super().__init__()
        self.users = nn.Embedding(users, width)
        self.items = nn.Embedding(ITEMS, width)
        self.project = nn.Linear(width, width)

    def forward(self, users, positives, negatives):
        user = self.project(self.users(users))
        positive = (user * self.items(positives)).sum(-1, keepdim=True)
        negative = torch.bmm(self.items(negatives), user[:, :, None])[:, :, 0]
        return torch.cat([positive, negative], 1)


def draw_negatives(batch, count):
    if fixed():
        return torch.randint(0, ITEMS, (batch, count), device="cuda")
    drawn = np.random.randint(0, ITEMS, (batch, count))  # FAULT
    return torch.from_numpy(drawn).cuda()


@torch.no_grad()
def validate(model, users, positives):
    logits = model(users, positives, draw_negatives(len(users), 20))
    return F.cross_entropy(logits, torch.zeros(len(users), dtype=torch.long, device="cuda"))


def main():
    model = TwoTower().cuda()
    users = torch.randint(0, 500_000, (65536,), device="cuda")
    positives = torch.randint(0, ITEMS, (65536,), device="cuda")
    for _ in steps():
        validate(model, users, positives)


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    main()
