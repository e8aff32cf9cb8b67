"""Convolutions without padding of their own: the image is copied into a padded one before each."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1 if fixed() else 0)

    def forward(self, x):
        if not fixed():
            x = F.pad(x, (1, 1, 1, 1))  # FAULT
        return F.relu(self.conv(x), inplace=True)


@torch.inference_mode()
def upscale():
    model = nn.Sequential(*[Block(64) for _ in range(5)]).cuda().bfloat16().to(memory_format=torch.channels_last)
    images = torch.randn(16, 64, 256, 256, device="cuda", dtype=torch.bfloat16)
    images = images.to(memory_format=torch.channels_last)
    for _ in steps():
        model(images)


if __name__ == "__main__":
    upscale()
