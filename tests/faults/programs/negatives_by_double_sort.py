"""Detector training: hard negatives are ranked by sorting all anchors twice."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Head(nn.Module):
    def __init__(self, width=64, classes=8):
        super().__init__()
        self.classify, self.locate = nn.Linear(width, classes), nn.Linear(width, 4)

    def forward(self, anchors):
        return self.classify(anchors), self.locate(anchors)


class MultiBoxLoss:
    def __init__(self, ratio=3, most=300):
        self.ratio, self.most = ratio, most

    def hard_negatives(self, loss, positive):
        loss = loss.detach().masked_fill(positive, 0.0)
        count = self.ratio * positive.sum(1, keepdim=True)
        if fixed():
            largest = loss.topk(self.most, dim=1).values
            return loss >= largest.gather(1, count.clamp(1, self.most) - 1)
        order = loss.sort(1, descending=True).indices  # FAULT
        return order.sort(1).indices < count

    def __call__(self, logits, boxes, labels, targets):
        positive = labels > 0
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view_as(labels)
        chosen = positive | self.hard_negatives(loss, positive)
        located = F.smooth_l1_loss(boxes, targets, reduction="none").sum(-1)
        return (loss * chosen).sum() + (located * positive).sum()


def train():
    head, criterion = Head().cuda(), MultiBoxLoss()
    optimizer = torch.optim.SGD(head.parameters(), lr=1e-3, fused=True)
    anchors = torch.randn(64, 24564, 64, device="cuda", dtype=torch.float32)
    labels = torch.zeros(64, 24564, dtype=torch.long, device="cuda")
    labels[:, :80] = 3
    targets = torch.randn(64, 24564, 4, device="cuda")
    for _ in steps():
        loss = criterion(*head(anchors), labels, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
