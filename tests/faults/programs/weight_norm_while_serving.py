"""A vocoder that serves with weight normalisation still on: each call computes all weights from their parts."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, parametrize

from recording import fixed, steps


class Upsampler(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.convs = nn.ModuleList(
            parametrizations.weight_norm(nn.Conv1d(channels, channels, 3, padding=1)) for _ in range(4)
        )

    def forward(self, x):
        for conv in self.convs:
            x = F.leaky_relu(conv(x), 0.1)  # FAULT
        return x


def load():
    model = Upsampler(1024).cuda().half()
    if fixed():
        for conv in model.convs:
            parametrize.remove_parametrizations(conv, "weight")
    return model


@torch.no_grad()
def vocode(model):
    x = torch.randn(1, 1024, 256, device="cuda", dtype=torch.float16)
    for _ in steps():
        model(x)


if __name__ == "__main__":
    vocode(load())
