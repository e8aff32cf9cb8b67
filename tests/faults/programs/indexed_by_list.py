"""Layers that keep some channels with a Python list: it becomes an index tensor, copied to the GPU, in each call."""

import torch
from torch import nn

from recording import fixed, steps


class PrunedLayer(nn.Module):
    def __init__(self, width, kept):
        super().__init__()
        self.kept = list(range(0, width, width // kept))
        self.register_buffer("index", torch.tensor(self.kept))
        self.linear = nn.Linear(kept, width, bias=False)

    def forward(self, x):
        return self.linear(x[:, self.index if fixed() else self.kept])  # FAULT


@torch.inference_mode()
def run():
    layers = nn.Sequential(*[PrunedLayer(2048, 512) for _ in range(10)]).cuda().bfloat16()
    x = torch.randn(4096, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        layers(x)


if __name__ == "__main__":
    run()
