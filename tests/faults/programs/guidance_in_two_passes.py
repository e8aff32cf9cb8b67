"""Classifier-free guidance: the conditional and the unconditional half go through the model one after the other."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Block(nn.Module):
    def __init__(self, width=768, heads=12):
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
    def __init__(self, depth=8, width=768):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.prompt = nn.Linear(512, width)

    def forward(self, latent, prompt):
        x = latent + self.prompt(prompt)[:, None]
        for block in self.blocks:
            x = block(x)
        return x


def guided_noise(model, latent, prompt, empty, scale=7.5):
    if fixed():
        both = model(torch.cat([latent, latent]), torch.cat([prompt, empty]))
        conditional, unconditional = both.chunk(2)
    else:
        conditional = model(latent, prompt)
        unconditional = model(latent, empty)  # FAULT
    return torch.lerp(unconditional, conditional, scale)


@torch.inference_mode()
def sample():
    model = Denoiser().cuda().bfloat16()
    start = torch.randn(1, 256, 768, device="cuda", dtype=torch.bfloat16)
    prompt = torch.randn(1, 512, device="cuda", dtype=torch.bfloat16)
    empty = torch.zeros_like(prompt)
    for _ in steps():
        guided_noise(model, start, prompt, empty)


if __name__ == "__main__":
    sample()
