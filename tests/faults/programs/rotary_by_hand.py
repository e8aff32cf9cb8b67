"""Rotary embeddings with rotate_half, slices and cat, for queries and keys."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def apply_rotary(x, cos, sin):
    if not fixed():
        return x * cos + rotate_half(x) * sin  # FAULT
    half = x.size(-1) // 2
    out = torch.empty_like(x)
    low, high = x[..., :half], x[..., half:]
    for mine, a, b, sign in ((out[..., :half], low, high, -1), (out[..., half:], high, low, 1)):
        torch.mul(a, cos[:, :half], out=mine)
        mine.addcmul_(b, sin[:, :half], value=sign)
    return out


class RotaryAttention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        angle = torch.outer(torch.arange(length), 10000 ** -(torch.arange(0, width // heads, 2) / (width // heads)))
        angle = torch.cat((angle, angle), -1)
        self.cos, self.sin = angle.cos().cuda().bfloat16(), angle.sin().cuda().bfloat16()

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k = apply_rotary(q, self.cos, self.sin), apply_rotary(k, self.cos, self.sin)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)


@torch.inference_mode()
def prefill():
    layers = nn.Sequential(*[RotaryAttention(1024, 8, 512) for _ in range(3)]).cuda().bfloat16()
    x = torch.randn(48, 512, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        layers(x)


if __name__ == "__main__":
    prefill()
