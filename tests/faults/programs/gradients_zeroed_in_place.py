"""Gradients of 400 million weights are set to zero and added to, where they could be dropped and simply written."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class WideTower(nn.Module):
    def __init__(self, inputs=1024, width=8192, depth=6, outputs=100):
        super().__init__()
        self.enter = nn.Linear(inputs, width, bias=False)
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(depth))
        self.leave = nn.Linear(width, outputs)

    def forward(self, x):
        x = F.relu(self.enter(x))
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.leave(x)


class Trainer:
    def __init__(self):
        with torch.device("cuda"):
            self.model = WideTower()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, fused=True)
        self.losses = []

    def step(self, x, labels):
        self.optimizer.zero_grad(set_to_none=fixed())  # FAULT
        loss = F.cross_entropy(self.model(x), labels)
        loss.backward()
        self.optimizer.step()
        self.losses = self.losses[-20:] + [loss.detach()]


def train():
    torch.set_float32_matmul_precision("high")
    trainer = Trainer()
    x = torch.randn(256, 1024, device="cuda")
    labels = torch.randint(0, 100, (256,), device="cuda")
    for _ in steps():
        trainer.step(x, labels)


if __name__ == "__main__":
    train()
