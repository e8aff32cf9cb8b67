"""Inference under autocast with FP32 weights: each call casts all weights of the layers again."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))  # FAULT


@torch.no_grad()
def serve():
    layers = nn.ModuleList(FeedForward(4096) for _ in range(3)).cuda()
    x = torch.randn(64, 4096, device="cuda", dtype=torch.bfloat16)
    if fixed():
        layers.bfloat16()
    for _ in steps(active=3):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=not fixed()):
            y = x
            for layer in layers:
                y = y + layer(y)


if __name__ == "__main__":
    serve()
