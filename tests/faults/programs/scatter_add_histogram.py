"""A histogram by scatter_add_ into 64 bins: nearly all atomics hit the same few addresses."""

import torch
from torch import nn

from recording import fixed, steps


class CalibrationHistogram(nn.Module):
    def __init__(self, bins=64):
        super().__init__()
        self.bins = bins

    def forward(self, activations):
        places = (activations.abs() * 4).clamp(max=self.bins - 1).long()
        counts = torch.zeros(self.bins, device=activations.device)
        if fixed():
            return counts + torch.histc(places.float(), self.bins, 0, self.bins)
        return counts.scatter_add_(0, places, torch.ones_like(activations))  # FAULT


class Calibrated(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.layer = nn.Linear(width, width, bias=False)
        self.histogram = CalibrationHistogram()

    def forward(self, x):
        y = self.layer(x)
        return self.histogram(y.flatten())


@torch.no_grad()
def calibrate():
    torch.set_float32_matmul_precision("high")
    model = Calibrated().cuda()
    x = torch.randn(2048, 2048, device="cuda")
    for _ in steps():
        model(x)


if __name__ == "__main__":
    calibrate()
