"""Bias, activation, gate and residual as separate passes over a large tensor."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class GatedTail(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        y = self.proj(x)
        if fixed():
            y.add_(self.bias)
            return torch.addcmul(x, F.silu(y, inplace=True), self.scale)
        y = y + self.bias
        y = y * torch.sigmoid(y)  # FAULT
        y = y * self.scale
        return x + y


@torch.inference_mode()
def run():
    model = nn.Sequential(*[GatedTail(1024) for _ in range(3)]).cuda().half()
    x = torch.randn(65536, 1024, device="cuda", dtype=torch.half)
    for _ in steps():
        model(x)


if __name__ == "__main__":
    run()
