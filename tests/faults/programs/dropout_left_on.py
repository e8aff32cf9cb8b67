"""Inference with a model that was never switched out of training mode."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.down(self.drop(F.gelu(self.up(x)))))  # FAULT


@torch.no_grad()
def run():
    model = nn.Sequential(*[Mixer(1024) for _ in range(3)]).cuda().bfloat16()
    model.train(not fixed())
    x = torch.randn(32768, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model(x)


if __name__ == "__main__":
    run()
