"""Classifier in training that runs its network on the batch a second time to report the accuracy."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Unit(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)), inplace=True)


class Classifier(nn.Module):
    def __init__(self, width=256, units=1, classes=1000):
        super().__init__()
        self.stem = Unit(16, width, stride=2)
        self.units = nn.Sequential(*[Unit(width, width) for _ in range(units)])
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        return self.head(self.units(self.stem(images)).mean(dim=(2, 3)))


def count_correct(model, images, labels, logits):
    with torch.no_grad():
        if not fixed():
            logits = model(images)  # FAULT
        return (logits.argmax(dim=1) == labels).sum()


def train():
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    model = Classifier().cuda().bfloat16().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    images = torch.randn(512, 16, 56, 56, device="cuda", dtype=torch.bfloat16)
    images = images.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (512,), device="cuda")
    correct = torch.zeros((), device="cuda", dtype=torch.int64)
    for _ in steps():
        logits = model(images)
        F.cross_entropy(logits, labels).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        correct += count_correct(model, images, labels, logits)


if __name__ == "__main__":
    train()
