"""Segmentation of a point cloud: edge convolutions over the twenty nearest neighbours of each point."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class EdgeConv(nn.Module):
    """max over neighbours j of relu(W [x_i, x_j - x_i] + b)"""

    def __init__(self, before, after):
        super().__init__()
        self.linear = nn.Linear(2 * before, after)

    def from_points(self, x, neighbours):
        own, other = self.linear.weight.chunk(2, dim=1)
        centre = F.linear(x, own - other, self.linear.bias)
        nearby = F.linear(x, other)[neighbours].amax(dim=1)
        return F.relu(centre + nearby)

    def from_edges(self, x, neighbours):
        centre = x[:, None].expand(-1, neighbours.shape[1], -1)
        edges = torch.cat([centre, x[neighbours] - centre], dim=-1)  # FAULT
        return F.relu(self.linear(edges)).amax(dim=1)

    def forward(self, x, neighbours):
        if fixed():
            return self.from_points(x, neighbours)
        return self.from_edges(x, neighbours)


class PointNetwork(nn.Module):
    def __init__(self, width=128, layers=4, classes=16):
        super().__init__()
        self.inlet = nn.Linear(16, width)
        self.layers = nn.ModuleList(EdgeConv(width, width) for _ in range(layers))
        self.merge = nn.Linear(layers * width, 1024)
        self.head = nn.Linear(1024, classes)

    def forward(self, points, neighbours):
        x = F.relu(self.inlet(points))
        levels = []
        for layer in self.layers:
            x = layer(x, neighbours)
            levels.append(x)
        return self.head(F.relu(self.merge(torch.cat(levels, dim=-1))))


def nearby_points(count, degree):
    """Neighbours as they come from a scan: close in the order of points."""
    shift = torch.randint(-200, 200, (count, degree), device="cuda")
    return (torch.arange(count, device="cuda")[:, None] + shift) % count


@torch.inference_mode()
def segment():
    model = PointNetwork().cuda().bfloat16().eval()
    points = torch.randn(65536, 16, device="cuda", dtype=torch.bfloat16)
    neighbours = nearby_points(65536, 20)
    for _ in steps():
        model(points, neighbours)


if __name__ == "__main__":
    segment()
