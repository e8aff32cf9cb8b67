"""A recommender: large embedding lookups with many distinct rows, wide products, nothing to repair."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Recommender(nn.Module):
    def __init__(self, rows=1 << 20, width=128):
        super().__init__()
        self.table = nn.EmbeddingBag(rows, width, mode="sum")
        hidden = [nn.Linear(width, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU()]
        self.top = nn.Sequential(*hidden, nn.Linear(4096, 128))

    def forward(self, ids):
        return self.top(self.table(ids))


@torch.inference_mode()
def rank():
    model = Recommender().cuda().bfloat16()
    ids = torch.randint(0, 1 << 20, (65536, 16), device="cuda")
    for _ in steps(active=3):
        model(ids)


if __name__ == "__main__":
    rank()
