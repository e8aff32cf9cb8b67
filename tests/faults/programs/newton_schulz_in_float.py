"""Muon optimizer: the Newton-Schulz iteration runs in float32 with full-precision products."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def orthogonalize(matrix, iterations=5):
    x = matrix.bfloat16() if fixed() else matrix.float()
    x = x / (x.norm() + 1e-7)
    for _ in range(iterations):
        gram = x @ x.mT  # FAULT
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=-4.775, alpha=2.0315), x, beta=3.4445)
    return x


class Muon:
    def __init__(self, weights, rate=0.02):
        self.weights, self.rate = weights, rate
        self.momentum = [torch.zeros_like(weight) for weight in weights]

    @torch.no_grad()
    def step(self):
        for weight, momentum in zip(self.weights, self.momentum):
            momentum.lerp_(weight.grad, 0.05)
            weight.add_(orthogonalize(momentum), alpha=-self.rate)
            weight.grad = None


class Network(nn.Module):
    def __init__(self, width=2048, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return x


def train():
    model = Network().cuda()
    optimizer = Muon(list(model.parameters()))
    x = torch.randn(16384, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(x).float().square().mean()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
