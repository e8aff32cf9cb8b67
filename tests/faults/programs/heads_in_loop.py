"""A multi-task model with a linear head per task, called one after another."""

import torch
from torch import nn

from recording import fixed, steps


class TaskHeads(nn.Module):
    def __init__(self, tasks=32, width=768, classes=64):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(width, classes) for _ in range(tasks))
        self.joint = nn.Linear(width, classes * tasks)

    def forward(self, x):
        if fixed():
            return self.joint(x).unflatten(-1, (len(self.heads), -1))
        return torch.stack([head(x) for head in self.heads], dim=1)  # FAULT


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(768, 768), nn.GELU())
        self.heads = TaskHeads()

    def forward(self, x):
        return self.heads(self.trunk(x))


@torch.inference_mode()
def predict():
    model = MultiTask().cuda().half()
    x = torch.randn(512, 768, device="cuda", dtype=torch.float16)
    for _ in steps():
        model(x)


if __name__ == "__main__":
    predict()
