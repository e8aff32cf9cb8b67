"""Near-twin of guidance in two passes: each pass fills the GPU, so one pass over both halves saves nothing."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Block(nn.Module):
    def __init__(self, width=1024, heads=16):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, n, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, width)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Denoiser(nn.Module):
    def __init__(self, depth=3, width=1024):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.prompt = nn.Linear(512, width)

    def forward(self, latent, prompt):
        return self.blocks(latent + self.prompt(prompt)[:, None])


def guided_noise(model, latent, prompt, empty, scale=7.5):
    conditional = model(latent, prompt)
    unconditional = model(latent, empty)
    return torch.lerp(unconditional, conditional, scale)


@torch.inference_mode()
def sample():
    model = Denoiser().cuda().bfloat16()
    start = torch.randn(16, 1024, 1024, device="cuda", dtype=torch.bfloat16)
    prompt = torch.randn(16, 512, device="cuda", dtype=torch.bfloat16)
    empty = torch.zeros_like(prompt)
    for _ in steps():
        guided_noise(model, start, prompt, empty)


if __name__ == "__main__":
    sample()
