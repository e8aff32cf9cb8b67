"""Near-twin of a boolean index: x[mask] = 0 is a masked fill, and nobody waits for the number of elements."""

import torch
from torch import nn

from recording import steps


class Masked(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width, bias=False)

    def forward(self, x, padding):
        y = self.linear(x)
        y[padding] = 0.0
        return y


@torch.inference_mode()
def run():
    layers = nn.ModuleList(Masked(4096) for _ in range(3)).cuda().bfloat16()
    x = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
    padding = torch.rand(16384, device="cuda") > 0.9
    for _ in steps():
        y = x
        for layer in layers:
            y = layer(y, padding)


if __name__ == "__main__":
    run()
