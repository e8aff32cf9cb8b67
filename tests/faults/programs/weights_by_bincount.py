"""A dense detector weights its class loss per image by how often each class is present in it."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

CLASSES, BATCH = 81, 16


class Head(nn.Module):
    def __init__(self, channels=256, layers=4):
        super().__init__()
        tower = []
        for _ in range(layers):
            tower += [nn.Conv2d(channels, channels, 3, padding=1), nn.SiLU()]
        self.tower = nn.Sequential(*tower)
        self.classes = nn.Conv2d(channels, CLASSES, 1)

    def forward(self, features):
        return self.classes(self.tower(features))


class BalancedLoss(nn.Module):
    def class_weights(self, labels):
        rows = []
        for image in labels:
            counts = torch.bincount(image, minlength=CLASSES)  # FAULT
            rows.append(1.0 / (counts + 1.0))
        return torch.stack(rows)

    def class_weights_together(self, labels):
        counts = torch.zeros(len(labels), CLASSES, device=labels.device)
        counts.scatter_add_(1, labels, torch.ones(labels.shape, device=labels.device))
        return 1.0 / (counts + 1.0)

    def forward(self, logits, labels):
        labels = labels.flatten(1)
        weights = self.class_weights_together(labels) if fixed() else self.class_weights(labels)
        losses = F.cross_entropy(logits.flatten(2).float(), labels, reduction="none")
        weights = weights.gather(1, labels)
        return (losses * weights).sum() / weights.sum()


def train():
    head = Head().cuda().to(torch.bfloat16).to(memory_format=torch.channels_last)
    criterion = BalancedLoss()
    optimizer = torch.optim.SGD(head.parameters(), lr=1e-3, momentum=0.9, fused=True)
    features = torch.randn(BATCH, 256, 48, 48, device="cuda", dtype=torch.bfloat16)
    features = features.to(memory_format=torch.channels_last)
    labels = torch.randint(0, CLASSES, (BATCH, 48, 48), device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        criterion(head(features), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
