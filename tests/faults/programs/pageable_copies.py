"""Embeddings are read from ordinary (pageable) host memory in each step; the copy blocks."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class FeatureStore:
    def __init__(self, rows, width):
        self.table = torch.randn(rows, width)
        if fixed():
            self.table = self.table.pin_memory()

    def fetch(self):
        return self.table.to("cuda", non_blocking=True)  # FAULT


class Scorer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = nn.Linear(width, 2048)
        self.out = nn.Linear(2048, 8)

    def forward(self, x):
        return self.out(F.relu(self.hidden(x)))


@torch.inference_mode()
def score_batches():
    torch.set_float32_matmul_precision("high")
    store = FeatureStore(16384, 1024)
    scorer = Scorer(1024).cuda()
    for _ in steps(active=3):
        scorer(store.fetch())


if __name__ == "__main__":
    score_batches()
