"""RMSprop with foreach=False on a convolutional model with many small tensors."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class ConvTower(nn.Module):
    def __init__(self, channels=256, depth=4):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv1d(channels, channels, 3, padding=1) for _ in range(depth))

    def forward(self, x):
        for conv in self.convs:
            x = F.relu(conv(x))
        return x


class Runner:
    def __init__(self):
        self.model = ConvTower().cuda().bfloat16()
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=1e-4, momentum=0.9, foreach=fixed())

    def update(self):
        self.optimizer.step()  # FAULT
        self.optimizer.zero_grad()

    def run(self):
        x = torch.randn(32, 256, 512, device="cuda", dtype=torch.bfloat16)
        for _ in steps():
            self.model(x).mean().backward()
            self.update()


if __name__ == "__main__":
    Runner().run()
