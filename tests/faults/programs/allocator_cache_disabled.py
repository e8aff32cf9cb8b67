"""Training with the caching allocator switched off by a variable that was set for a memory checker."""

import os

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def prepare_environment():
    if not fixed():
        os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"  # FAULT


class Network(nn.Module):
    def __init__(self, width=1024, depth=6):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.head = nn.Linear(width, 100)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))  # FAULT
        return self.head(x)


def train_step(model, optimizer, x, labels):
    loss = F.cross_entropy(model(x), labels)  # FAULT
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train():
    model = Network().cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x = torch.randn(8192, 1024, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 100, (8192,), device="cuda")
    for _ in steps():
        train_step(model, optimizer, x, labels)


if __name__ == "__main__":
    prepare_environment()
    train()
