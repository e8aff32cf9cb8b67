"""A scorer that answers requests with gradients on: each op also builds a graph that nobody uses."""

import contextlib

import torch
from torch import nn

from recording import fixed, steps


class Scorer(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth))

    def forward(self, x):
        for block, norm in zip(self.blocks, self.norms):
            x = x + torch.relu(block(norm(x)))
        return x.mean(dim=-1)


def answer(model, request):
    with torch.inference_mode() if fixed() else contextlib.nullcontext():
        return model(request)  # FAULT


def serve():
    model = Scorer(256, 16).cuda().eval()
    request = torch.randn(32, 256, device="cuda")
    for _ in steps(timed=100, block=25):
        answer(model, request)


if __name__ == "__main__":
    serve()
