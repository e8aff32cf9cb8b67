"""A loss for each of 24 attributes, computed in a loop over slices."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class AttributeLoss(nn.Module):
    def __init__(self, attributes=24):
        super().__init__()
        self.weights = [1.0 / (i + 1) for i in range(attributes)]

    def forward(self, logits, labels):
        if fixed():
            each = F.binary_cross_entropy_with_logits(logits, labels, reduction="none").mean(0)
            return (each * torch.tensor(self.weights).pin_memory().to(each.device, non_blocking=True)).sum()
        total = 0
        for i, weight in enumerate(self.weights):
            total = total + weight * F.binary_cross_entropy_with_logits(logits[:, i], labels[:, i])  # FAULT
        return total


@torch.no_grad()
def evaluate():
    loss = AttributeLoss()
    head = nn.Linear(512, 24).cuda()
    x = torch.randn(2048, 512, device="cuda")
    labels = torch.rand(2048, 24, device="cuda").round()
    for _ in steps():
        loss(head(x), labels)


if __name__ == "__main__":
    evaluate()
