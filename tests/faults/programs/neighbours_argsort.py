"""Nearest neighbours by argsort over all distances."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class NeighbourIndex:
    def __init__(self, points, neighbours):
        self.points, self.neighbours = points, neighbours

    def query(self, queries):
        distance = torch.cdist(queries, self.points)
        if fixed():
            return distance.topk(self.neighbours, largest=False).indices
        return distance.argsort(dim=-1)[:, : self.neighbours]  # FAULT


@torch.inference_mode()
def search():
    torch.set_float32_matmul_precision("high")
    index = NeighbourIndex(torch.randn(65536, 64, device="cuda"), 10)
    queries = torch.randn(512, 64, device="cuda")
    for _ in steps():
        index.query(queries)


if __name__ == "__main__":
    search()
