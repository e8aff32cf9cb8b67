"""A segmentation metric that checks the labels of each batch for unknown classes, and so waits for the GPU."""

import torch
from torch import nn
from torchmetrics.classification import MulticlassJaccardIndex

from recording import fixed, steps


def measure(metric, prediction, labels):
    metric.update(prediction, labels)  # FAULT


@torch.inference_mode()
def evaluate():
    model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 21, 1)).cuda().half()
    model = model.to(memory_format=torch.channels_last)
    metric = MulticlassJaccardIndex(21, validate_args=not fixed()).cuda()
    images = torch.randn(8, 3, 256, 256, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)
    labels = torch.randint(0, 21, (8, 256, 256), device="cuda")
    for _ in steps():
        for _ in range(3):
            measure(metric, model(images).argmax(1), labels)


if __name__ == "__main__":
    evaluate()
