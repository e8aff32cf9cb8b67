"""A ranking service packs its requests into rows with a first-fit loop in Python before each forward pass."""

import random

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Ranker(nn.Module):
    def __init__(self, width=2048, depth=3):
        super().__init__()
        self.towers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(depth))
        self.head = nn.Linear(width, 16)

    def forward(self, features, rows):
        hidden = features
        for tower in self.towers:
            hidden = F.relu(tower(hidden))
        return self.head(hidden[: len(rows)])


def pack_requests(lengths, capacity):
    rows = []
    for length in lengths:  # FAULT
        place = -1
        for index, free in enumerate(rows):
            if free >= length:
                place = index
                break
        if place < 0:
            rows += [capacity - length]
        else:
            rows[place] -= length
    return rows


@torch.inference_mode()
def serve():
    model = Ranker().cuda().bfloat16()
    features = torch.randn(16384, 2048, device="cuda", dtype=torch.bfloat16)
    random.seed(1)
    lengths = [random.randint(40, 900) for _ in range(600)]
    packed = pack_requests(lengths, 1024) if fixed() else None
    for _ in steps():
        rows = packed or pack_requests(lengths, 1024)
        scores = model(features, rows)
        scores.softmax(-1)


if __name__ == "__main__":
    serve()
