"""Embeddings are fetched to ordinary host memory with .cpu() after each batch."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Embedder(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.a = nn.Linear(width, 4 * width)
        self.b = nn.Linear(4 * width, width)

    def forward(self, x):
        return F.normalize(self.b(F.gelu(self.a(x))), dim=-1)


class Store:
    def __init__(self):
        self.latest = None
        self.buffer = torch.empty(32768, 1024, dtype=torch.half, pin_memory=True) if fixed() else None

    def save(self, vectors):
        if fixed():
            self.latest = self.buffer.copy_(vectors, non_blocking=True)
        else:
            self.latest = vectors.cpu()  # FAULT


@torch.inference_mode()
def embed_corpus():
    store = Store()
    model = Embedder().cuda().half()
    batch = torch.randn(32768, 1024, device="cuda", dtype=torch.half)
    for _ in steps():
        store.save(model(batch))


if __name__ == "__main__":
    embed_corpus()
