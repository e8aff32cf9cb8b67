"""Gradients are accumulated over micro-batches of two images, though the whole batch fits many times over."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(32)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(F.relu(self.norm(self.conv(x))).mean((2, 3)))


def train_step(model, optimizer, images, labels):
    optimizer.zero_grad()
    size = 16 if fixed() else 2
    for part, wanted in zip(images.split(size), labels.split(size)):
        loss = F.cross_entropy(model(part), wanted) * size / len(images)  # FAULT
        loss.backward()
    optimizer.step()


def train():
    torch.backends.cudnn.benchmark = True
    model = SmallNet().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
    images = torch.randn(16, 16, 32, 32, device="cuda")
    labels = torch.randint(0, 10, (16,), device="cuda")
    for _ in steps(active=1):
        train_step(model, optimizer, images, labels)


if __name__ == "__main__":
    train()
