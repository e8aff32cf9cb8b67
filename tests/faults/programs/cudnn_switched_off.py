"""A detector whose convolutions run without cuDNN: a switch from a debugging session is still in the program."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Stage(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)

    def forward(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x))))


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.Sequential(Stage(3, 64), Stage(64, 128), Stage(128, 256))
        self.boxes, self.scores = nn.Conv2d(256, 36, 1), nn.Conv2d(256, 9, 1)

    def extract(self, images):
        torch.backends.cudnn.enabled = fixed()  # FAULT
        try:
            return self.stages(images)
        finally:
            torch.backends.cudnn.enabled = True

    def forward(self, images):
        features = self.extract(images)
        return self.boxes(features), self.scores(features)


@torch.inference_mode()
def detect():
    model = Detector().cuda()
    images = torch.randn(8, 3, 320, 320, device="cuda")
    for _ in steps():
        model(images)


if __name__ == "__main__":
    detect()
