"""A point-cloud network picks centres by farthest point sampling, then pools features around them."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

CLOUDS, POINTS, CENTRES = 16, 4096, 56


class FarthestPoints:
    def __init__(self):
        self.points = torch.zeros(CLOUDS, POINTS, 3, device="cuda")
        self.rows = torch.arange(CLOUDS, device="cuda")
        self.graph = None

    def pick_centres(self, points):
        chosen = torch.empty(CLOUDS, CENTRES, dtype=torch.long, device="cuda")
        nearest = torch.full((CLOUDS, POINTS), 1e10, device="cuda")
        last = torch.zeros(CLOUDS, dtype=torch.long, device="cuda")
        for number in range(CENTRES):
            chosen[:, number] = last
            centre = points[self.rows, last]
            distance = (points - centre[:, None]).square().sum(-1)  # FAULT
            nearest = torch.minimum(nearest, distance)
            last = nearest.argmax(-1)
        return chosen

    def capture(self):
        self.pick_centres(self.points)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.chosen = self.pick_centres(self.points)

    def __call__(self, points):
        if self.graph is None:
            return self.pick_centres(points)
        self.points.copy_(points)
        self.graph.replay()
        return self.chosen


class PointNetwork(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.lift = nn.Sequential(nn.Linear(3, 128), nn.ReLU(), nn.Linear(128, width), nn.ReLU())
        self.head = nn.Linear(width, 40)
        self.sampler = FarthestPoints()

    def forward(self, points):
        chosen = self.sampler(points)
        features = self.lift(points.to(torch.bfloat16))
        picked = features.gather(1, chosen[..., None].expand(-1, -1, features.shape[-1]))
        return F.softmax(self.head(picked.amax(1)).float(), -1)


@torch.no_grad()
def classify():
    network = PointNetwork().cuda().to(torch.bfloat16)
    if fixed():
        network.sampler.capture()
    points = torch.rand(CLOUDS, POINTS, 3, device="cuda")
    for _ in steps():
        network(points)


if __name__ == "__main__":
    classify()
