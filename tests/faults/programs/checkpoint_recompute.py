"""Activation checkpointing on a model that fits into memory many times over."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from recording import fixed, steps


class EncoderLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.fc2(F.gelu(self.fc1(self.norm(x))))  # FAULT


class Encoder(nn.Module):
    def __init__(self, width=1024, depth=1):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x) if fixed() else checkpoint(layer, x, use_reentrant=True, preserve_rng_state=False)  # FAULT
        return x


def train():
    model = Encoder().cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x = torch.randn(65536, 1024, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    for _ in steps():
        loss = model(x).float().square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
