"""Near-twin of products in a loop: a pyramid whose layers all differ."""

import torch
from torch import nn

from recording import steps


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [8192, 7168, 6144, 5120, 4096, 3072]
        self.layers = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in zip(widths, widths[1:]))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@torch.inference_mode()
def run():
    model = Pyramid().cuda().bfloat16()
    x = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        model(x)


if __name__ == "__main__":
    run()
