"""A diffusion model in channels last: convolutions and attention; the numbers of the schedule stay on the host."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return x + self.conv2(F.silu(self.conv1(x), inplace=True))


class Attention(nn.Module):
    def __init__(self, channels, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(channels, 3 * channels, bias=False)

    def forward(self, x):
        b, c, h, w = x.shape
        tokens = x.permute(0, 2, 3, 1).reshape(b, h * w, c)
        q, k, v = self.qkv(tokens).view(b, h * w, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, h, w, c)
        return x + y.permute(0, 3, 1, 2)


@torch.inference_mode()
def denoise():
    model = nn.Sequential(Block(512), Attention(512, 8), Block(512)).cuda().bfloat16()
    model = model.to(memory_format=torch.channels_last)
    x = torch.randn(16, 512, 64, 64, device="cuda", dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    for step in steps():
        x = torch.lerp(x, model(x), 0.01 / (1 + step))


if __name__ == "__main__":
    denoise()
