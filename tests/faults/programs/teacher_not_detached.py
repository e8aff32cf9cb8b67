"""Distillation: the teacher runs with gradients, so backward goes through the teacher too."""

import contextlib

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Tower(nn.Module):
    def __init__(self, width, depth, inputs=1024, outputs=1024):
        super().__init__()
        self.enter = nn.Linear(inputs, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.leave = nn.Linear(width, outputs)

    def forward(self, x):
        x = F.relu(self.enter(x))
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.leave(x)


class Distiller:
    def __init__(self):
        self.teacher = Tower(4096, 3).cuda().bfloat16()
        self.student = Tower(1024, 3).cuda().bfloat16()
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=1e-4, fused=True)

    def soft_targets(self, x):
        with torch.no_grad() if fixed() else contextlib.nullcontext():
            return F.softmax(self.teacher(x), -1)  # FAULT

    def loss(self, x):
        logits = F.log_softmax(self.student(x), -1)
        return F.kl_div(logits, self.soft_targets(x), reduction="batchmean")

    def step(self, x):
        loss = self.loss(x)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def train():
    distiller = Distiller()
    x = torch.randn(4096, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        distiller.step(x)


if __name__ == "__main__":
    train()
