"""Near-twin of critics in a loop: the ensemble is one batched product per layer, each fills the GPU."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class StackedCritics(nn.Module):
    def __init__(self, count=10, inputs=512, hidden=1024):
        super().__init__()
        sizes = [(inputs, hidden), (hidden, hidden), (hidden, 8)]
        self.weights = nn.ParameterList(torch.randn(count, i, o) * i**-0.5 for i, o in sizes)
        self.biases = nn.ParameterList(torch.zeros(count, 1, o) for _, o in sizes)

    def forward(self, x):
        x = x.expand(len(self.weights[0]), -1, -1)
        last = len(self.weights) - 1
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases)):
            x = torch.baddbmm(bias, x, weight)
            x = F.relu(x) if number < last else x
        return x


def update(critics, optimizer, now, goal):
    loss = (critics(now) - goal).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train():
    critics = StackedCritics().cuda().bfloat16()
    optimizer = torch.optim.Adam(critics.parameters(), lr=3e-4, fused=True)
    now = torch.randn(8192, 512, device="cuda", dtype=torch.bfloat16)
    goal = torch.randn(8192, 8, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        update(critics, optimizer, now, goal)


if __name__ == "__main__":
    train()
