"""Near-twin of late launches: Python work in each step, all of it while the GPU has work queued."""

import torch
from torch import nn

from recording import steps


class Stack(nn.Module):
    def __init__(self, width=4096, depth=8):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def account(tokens):
    total = 0
    for number in range(tokens):
        total += number & 7
    return total


@torch.inference_mode()
def serve():
    model = Stack().cuda().bfloat16()
    x = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        model(x)
        account(30000)


if __name__ == "__main__":
    serve()
