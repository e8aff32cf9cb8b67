"""Image classification without .eval(): batch norm computes the batch's statistics and updates the running ones."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Stage(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)), inplace=True)  # FAULT


@torch.inference_mode()
def classify():
    model = nn.Sequential(*[Stage(256) for _ in range(5)]).cuda().bfloat16().to(memory_format=torch.channels_last)
    if fixed():
        model.eval()
    images = torch.randn(64, 256, 56, 56, device="cuda", dtype=torch.bfloat16)
    images = images.to(memory_format=torch.channels_last)
    for _ in steps():
        model(images)  # FAULT


if __name__ == "__main__":
    classify()
