"""A flow network that makes the same grid of coordinates again in each of its refinements."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

KEPT = {}


def coordinates(height, width):
    ys = torch.linspace(-1, 1, height, device="cuda")
    xs = torch.linspace(-1, 1, width, device="cuda")
    grid = torch.stack(torch.meshgrid(xs, ys, indexing="xy"), -1)  # FAULT
    return grid.expand(16, -1, -1, -1).contiguous()


def warp(features, flow):
    size = features.shape[-2:]
    if fixed():
        grid = KEPT.setdefault(size, coordinates(*size)) if size not in KEPT else KEPT[size]
    else:
        grid = coordinates(*size)
    return F.grid_sample(features, grid + flow, align_corners=False)


@torch.inference_mode()
def estimate():
    features = torch.randn(16, 2, 512, 512, device="cuda")
    flow = torch.randn(16, 512, 512, 2, device="cuda") * 0.01
    for _ in steps():
        x = features
        for _ in range(6):
            x = warp(x, flow)


if __name__ == "__main__":
    estimate()
