"""Segmentation: the Dice loss expands the labels to a one-hot tensor of 64-bit integers."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class SegmentationHead(nn.Module):
    def __init__(self, channels=32, classes=24):
        super().__init__()
        self.classify = nn.Conv2d(channels, classes, 1)

    def forward(self, features):
        return self.classify(features)


class DiceLoss(nn.Module):
    def __init__(self, classes=24):
        super().__init__()
        self.classes = classes
        self.register_buffer("numbers", torch.arange(classes, dtype=torch.uint8).view(1, -1, 1, 1))

    def targets(self, labels):
        if fixed():
            return labels.to(torch.uint8)[:, None] == self.numbers
        return F.one_hot(labels, self.classes).permute(0, 3, 1, 2).float()  # FAULT

    def forward(self, logits, labels):
        probability = F.softmax(logits, 1)
        target = self.targets(labels)
        common = (probability * target).sum((0, 2, 3))
        size = probability.sum((0, 2, 3)) + target.sum((0, 2, 3))
        return 1 - (2 * common / (size + 1)).mean()


def train():
    head, criterion = SegmentationHead().cuda(), DiceLoss().cuda()
    optimizer = torch.optim.SGD(head.parameters(), lr=1e-2, fused=True)
    features = torch.randn(8, 32, 384, 384, device="cuda")
    labels = torch.randint(0, 24, (8, 384, 384), device="cuda")
    for _ in steps():
        loss = criterion(head(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
