"""Image generator: the blur of each channel by itself is a dense convolution with a mostly-zero kernel."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Blur(nn.Module):
    def __init__(self, channels):
        super().__init__()
        taps = torch.tensor([1.0, 2.0, 1.0])
        kernel = torch.outer(taps, taps) / 16
        if fixed():
            self.groups = channels
            weight = kernel.expand(channels, 1, 3, 3).contiguous()
        else:
            self.groups = 1
            weight = torch.eye(channels)[:, :, None, None] * kernel
        self.register_buffer("weight", weight)

    def forward(self, x):
        return F.conv2d(x, self.weight, padding=1, groups=self.groups)  # FAULT


class Upscale(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.mix = nn.Conv2d(inputs, outputs, 1)
        self.blur = Blur(outputs)

    def forward(self, x):
        x = F.interpolate(self.mix(x), scale_factor=2, mode="nearest")
        return F.leaky_relu(self.blur(x), 0.2)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.up1, self.up2 = Upscale(512, 512), Upscale(512, 512)
        self.color = nn.Conv2d(512, 3, 1)

    def forward(self, latent):
        return self.color(self.up2(self.up1(latent)))


@torch.inference_mode()
def generate():
    model = Generator().cuda()
    latent = torch.randn(8, 512, 16, 16, device="cuda")
    for _ in steps(active=3):
        model(latent)


if __name__ == "__main__":
    generate()
