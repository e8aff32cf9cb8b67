"""A graph network on a learned dense graph, normalised on both sides by the nodes' degrees."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

NODES, WIDTH = 6144, 512


class LearnedGraph(nn.Module):
    def __init__(self, rank=64):
        super().__init__()
        self.left = nn.Parameter(0.1 * torch.randn(NODES, rank))
        self.right = nn.Parameter(0.1 * torch.randn(NODES, rank))

    def forward(self):
        return F.softplus(self.left @ self.right.T)


class GraphLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, adjacency, x):
        return F.relu(adjacency @ self.linear(x))


class GraphNetwork(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.graph = LearnedGraph()
        self.layers = nn.ModuleList(GraphLayer() for _ in range(layers))
        self.head = nn.Linear(WIDTH, 16)

    def normalised(self, adjacency):
        scale = adjacency.sum(1).rsqrt()
        if fixed():
            return scale[:, None] * adjacency * scale
        diagonal = torch.diag(scale)
        return diagonal @ adjacency @ diagonal  # FAULT

    def forward(self, x):
        adjacency = self.normalised(self.graph())
        for layer in self.layers:
            x = layer(adjacency, x)
        return self.head(x)


def train():
    torch.set_float32_matmul_precision("high")
    network = GraphNetwork().cuda()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)
    features = torch.randn(NODES, WIDTH, device="cuda")
    labels = torch.randint(0, 16, (NODES,), device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        F.cross_entropy(network(features), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
