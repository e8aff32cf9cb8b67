"""A generator whose filters differ between samples convolves one sample after the other."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Modulated(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, channels, 3, 3) * 0.02)

    def forward(self, x, styles):
        weights = self.weight * styles[:, None, :, None, None]
        count, channels = x.shape[:2]
        if fixed():
            rows = x.view(1, -1, *x.shape[2:])
            return F.conv2d(rows, weights.flatten(0, 1), padding=1, groups=count).view_as(x)
        parts = [F.conv2d(x[i : i + 1], weights[i], padding=1) for i in range(count)]  # FAULT
        return torch.cat(parts)


@torch.inference_mode()
def generate():
    layers = nn.ModuleList(Modulated(64) for _ in range(3)).cuda().half()
    x = torch.randn(32, 64, 32, 32, device="cuda", dtype=torch.half)
    styles = torch.randn(32, 64, device="cuda", dtype=torch.half)
    for _ in steps():
        y = x
        for layer in layers:
            y = torch.relu(layer(y, styles))


if __name__ == "__main__":
    generate()
