"""Ids of a bag are looked up into a large tensor of rows, which is then weighted and summed."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Bag(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Parameter(torch.randn(rows, width))

    def forward(self, ids, weights):
        if fixed():
            return F.embedding_bag(ids, self.table, mode="sum", per_sample_weights=weights)
        rows = F.embedding(ids, self.table)
        return (rows * weights[..., None]).sum(1)  # FAULT


@torch.inference_mode()
def score():
    bag = Bag(200_000, 128).cuda()
    head = nn.Linear(128, 1).cuda()
    ids = torch.randint(0, 200_000, (16384, 100), device="cuda")
    weights = torch.rand(16384, 100, device="cuda")
    for _ in steps(active=3):
        head(bag(ids, weights))


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    score()
