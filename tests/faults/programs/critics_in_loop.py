"""Off-policy RL with an ensemble of critics, run one small network after the other."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class SeparateCritics(nn.Module):
    def __init__(self, count, inputs, hidden):
        super().__init__()
        self.members = nn.ModuleList(self.member(inputs, hidden) for _ in range(count))

    def member(self, inputs, hidden):
        layers = [nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1)]
        return nn.Sequential(*layers)

    def forward(self, x):
        return torch.stack([member(x) for member in self.members])  # FAULT


class StackedCritics(nn.Module):
    def __init__(self, count, inputs, hidden):
        super().__init__()
        sizes = [(inputs, hidden), (hidden, hidden), (hidden, 1)]
        self.weights = nn.ParameterList(torch.randn(count, i, o) * i**-0.5 for i, o in sizes)
        self.biases = nn.ParameterList(torch.zeros(count, 1, o) for _, o in sizes)

    def forward(self, x):
        x = x.expand(len(self.weights[0]), -1, -1)
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases)):
            x = torch.baddbmm(bias, x, weight)
            x = x.relu() if number < 2 else x
        return x


def bellman_target(critics, reward, following):
    with torch.no_grad():
        return reward + 0.99 * critics(following).amin(0)


def update(critics, target, optimizer, batch):
    goal = bellman_target(target, batch["reward"], batch["following"])
    values = critics(batch["now"])
    loss = F.mse_loss(values, goal.expand_as(values))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train():
    kind = StackedCritics if fixed() else SeparateCritics
    critics, target = kind(8, 48, 256).cuda(), kind(8, 48, 256).cuda()
    optimizer = torch.optim.Adam(critics.parameters(), lr=3e-4, fused=True)
    batch = {name: torch.randn(256, 48, device="cuda") for name in ("now", "following")}
    batch["reward"] = torch.randn(256, 1, device="cuda")
    for _ in steps():
        update(critics, target, optimizer, batch)


if __name__ == "__main__":
    train()
