"""A serving loop that sleeps a fixed time between batches instead of waiting for a request."""

import time

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Reranker(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.first = nn.Linear(width, 4 * width)
        self.second = nn.Linear(4 * width, width)
        self.score = nn.Linear(width, 1)

    def forward(self, pairs):
        return self.score(self.second(F.relu(self.first(pairs)))).squeeze(-1)


class RequestQueue:
    def __init__(self, batch):
        self.batch = batch

    def next_batch(self):
        if not fixed():
            time.sleep(0.005)  # FAULT
        return self.batch


@torch.inference_mode()
def serve():
    queue = RequestQueue(torch.randn(8192, 2048, device="cuda", dtype=torch.bfloat16))
    model = Reranker().cuda().bfloat16()
    for _ in steps():
        model(queue.next_batch()).topk(16)


if __name__ == "__main__":
    serve()
