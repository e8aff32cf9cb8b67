"""A volume goes through a convolution slice by slice."""

import torch
from torch import nn

from recording import fixed, steps


class Slices(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, volume):
        if fixed():
            batch, channels, depth, height, width = volume.shape
            flat = volume.transpose(1, 2).reshape(-1, channels, height, width)
            return self.conv(flat).view(batch, depth, channels, height, width).transpose(1, 2)
        slices = [self.conv(volume[:, :, i]) for i in range(volume.shape[2])]  # FAULT
        return torch.stack(slices, 2)


@torch.inference_mode()
def segment():
    model = nn.Sequential(Slices(16), nn.ReLU(), Slices(16)).cuda().half()
    volume = torch.randn(1, 16, 64, 64, 64, device="cuda", dtype=torch.half)
    for _ in steps():
        model(volume)


if __name__ == "__main__":
    segment()
