"""Layers that turn a Python number into a tensor on the GPU in each call: a copy, and a wait, for each."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class ScaledBlock(nn.Module):
    def __init__(self, width, scale):
        super().__init__()
        self.scale = scale
        self.linear = nn.Linear(width, width, bias=False)

    def forward(self, x):
        scale = self.scale if fixed() else torch.tensor(self.scale, device=x.device, dtype=x.dtype)  # FAULT
        return x + F.silu(self.linear(x)) * scale


@torch.inference_mode()
def run():
    layers = nn.Sequential(*[ScaledBlock(2048, 1 / (i + 1)) for i in range(12)]).cuda().bfloat16()
    x = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        layers(x)


if __name__ == "__main__":
    run()
