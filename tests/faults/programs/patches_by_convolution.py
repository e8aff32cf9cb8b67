"""The vision part of a video-and-text model: patches of two frames become tokens, then pass some layers."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

WIDTH, HEADS, PATCHES = 1280, 16, 8192


class PatchEmbedding(nn.Module):
    """Patches come cut out already, one row each: 3 colours x 2 frames x 14 x 14."""

    def __init__(self, frames=2, size=14):
        super().__init__()
        self.shape = (3, frames, size, size)
        window = (frames, size, size)
        self.project = nn.Conv3d(3, WIDTH, kernel_size=window, stride=window, bias=False)

    def embed_patches(self, rows):
        if fixed():
            return F.linear(rows, self.project.weight.view(WIDTH, -1))
        return self.project(rows.view(-1, *self.shape)).view(-1, WIDTH)  # FAULT

    def forward(self, rows):
        return self.embed_patches(rows)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).view(8, PATCHES // 8, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(mixed.transpose(1, 2).reshape(PATCHES, WIDTH))


class VisionPart(nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        self.embed = PatchEmbedding()
        self.layers = nn.Sequential(*[Layer() for _ in range(layers)])

    def forward(self, rows):
        return self.layers(self.embed(rows))


@torch.no_grad()
def look():
    model = VisionPart().cuda().to(torch.bfloat16)
    rows = torch.randn(PATCHES, 3 * 2 * 14 * 14, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model(rows)


if __name__ == "__main__":
    look()
