"""Optical flow: feature maps are warped with four gathers and weights written out."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def base_grid(height, width, device):
    y, x = torch.meshgrid(torch.arange(height, device=device), torch.arange(width, device=device), indexing="ij")
    return x.float(), y.float()


def take(features, x, y):
    batch, channels, height, width = features.shape
    index = (y.clamp(0, height - 1) * width + x.clamp(0, width - 1)).long()
    index = index.view(batch, 1, -1).expand(-1, channels, -1)
    return features.flatten(2).gather(2, index).view_as(features)  # FAULT


def warp_bilinear(features, x, y):
    x0, y0 = x.floor(), y.floor()
    wx, wy = (x - x0)[:, None], (y - y0)[:, None]
    top = take(features, x0, y0) * (1 - wx) + take(features, x0 + 1, y0) * wx
    bottom = take(features, x0, y0 + 1) * (1 - wx) + take(features, x0 + 1, y0 + 1) * wx
    return top * (1 - wy) + bottom * wy  # FAULT


def warp(features, flow, grid):
    x, y = grid[0] + flow[:, 0], grid[1] + flow[:, 1]
    if fixed():
        height, width = features.shape[2:]
        scaled = torch.stack([x * (2 / (width - 1)) - 1, y * (2 / (height - 1)) - 1], -1)
        return F.grid_sample(features, scaled, align_corners=True, padding_mode="border")
    return warp_bilinear(features, x, y)


class FlowHead(nn.Module):
    def __init__(self, channels=64):
        super().__init__()
        self.mix = nn.Conv2d(2 * channels, channels, 1)
        self.flow = nn.Conv2d(channels, 2, 3, padding=1)

    def forward(self, first, second, flow, grid):
        moved = warp(second, flow, grid)
        return flow + self.flow(F.relu(self.mix(torch.cat([first, moved], 1))))


@torch.inference_mode()
def estimate():
    head = FlowHead().cuda()
    first, second = torch.randn(2, 8, 64, 256, 256, device="cuda")
    flow = torch.randn(8, 2, 256, 256, device="cuda")
    grid = base_grid(256, 256, "cuda")
    for _ in steps():
        head(first, second, flow, grid)


if __name__ == "__main__":
    estimate()
