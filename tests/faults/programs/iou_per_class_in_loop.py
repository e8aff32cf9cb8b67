"""Evaluation of a segmentation model: intersection and union are computed and read class by class."""

import torch
from torch import nn

from recording import fixed, steps


class SegmentationModel(nn.Module):
    def __init__(self, classes=19):
        super().__init__()
        self.features = nn.Conv2d(3, 32, 3, stride=2, padding=1)
        self.classify = nn.Conv2d(32, classes, 1)

    def forward(self, images):
        return self.classify(torch.relu(self.features(images))).argmax(1)


class MeanIoU:
    def __init__(self, classes=19):
        self.classes = classes
        self.common, self.union = [0] * classes, [0] * classes
        self.matrix = torch.zeros(classes * classes, dtype=torch.long, device="cuda")

    def update(self, predicted, labels):
        if fixed():
            cells = (labels * self.classes + predicted).flatten()
            self.matrix += torch.bincount(cells, minlength=self.classes**2)
            return
        for number in range(self.classes):
            found, there = predicted == number, labels == number
            self.common[number] += (found & there).sum().item()  # FAULT
            self.union[number] += (found | there).sum().item()


@torch.inference_mode()
def evaluate():
    model, metric = SegmentationModel().cuda(), MeanIoU()
    images = torch.randn(4, 3, 512, 1024, device="cuda")
    labels = torch.randint(0, 19, (4, 256, 512), device="cuda")
    for _ in steps():
        metric.update(model(images), labels)


if __name__ == "__main__":
    evaluate()
