"""An encoder that clips activations only when their maximum, read back with .item(), is too large."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class ClippedBlock(nn.Module):
    def __init__(self, width, limit=50.0):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mlp = FeedForward(width)
        self.limit = limit

    def forward(self, x):
        x = x + self.mlp(self.norm(x))
        if fixed():
            return x.clamp(-self.limit, self.limit)
        if x.abs().max().item() > self.limit:  # FAULT
            x = x.clamp(-self.limit, self.limit)
        return x


@torch.no_grad()
def encode():
    encoder = nn.Sequential(*[ClippedBlock(1024) for _ in range(6)]).cuda().to(torch.bfloat16)
    tokens = torch.randn(32, 512, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        encoder(tokens)


if __name__ == "__main__":
    encode()
