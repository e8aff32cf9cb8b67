"""Regression whose targets are float64, which makes the loss and its gradient double precision."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Forecaster(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.trend = nn.Linear(width, width)
        self.season = nn.Linear(width, width)

    def forward(self, x):
        return self.season(F.relu(self.trend(x)))


def loss_of(prediction, target):
    error = prediction - target  # FAULT
    return (error.abs() + 0.5 * error.square()).mean()


def train():
    torch.set_float32_matmul_precision("high")
    model = Forecaster().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    x = torch.randn(32768, 1024, device="cuda")
    target = torch.randn(32768, 1024, device="cuda", dtype=torch.float32 if fixed() else torch.float64)
    for _ in steps():
        loss = loss_of(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
