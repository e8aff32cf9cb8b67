"""Multi-task training: backward runs once per task through the shared trunk."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Trunk(nn.Module):
    def __init__(self, width=2048, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return x


class MultiTask(nn.Module):
    def __init__(self, tasks=4, width=2048):
        super().__init__()
        self.trunk = Trunk(width)
        self.heads = nn.ModuleList(nn.Linear(width, 64) for _ in range(tasks))

    def losses(self, x, targets):
        shared = self.trunk(x)
        return [F.cross_entropy(head(shared), target) for head, target in zip(self.heads, targets)]


def backpropagate(losses):
    if fixed():
        sum(losses).backward()
        return
    for loss in losses:
        loss.backward(retain_graph=True)  # FAULT


def train():
    model = MultiTask().cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x = torch.randn(8192, 2048, device="cuda", dtype=torch.bfloat16)
    targets = torch.randint(0, 64, (4, 8192), device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        backpropagate(model.losses(x, targets))
        optimizer.step()


if __name__ == "__main__":
    train()
