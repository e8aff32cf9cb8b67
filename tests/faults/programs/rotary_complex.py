"""Rotary embeddings with complex numbers: widened to float, multiplied, narrowed again."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def rotate(x, angles, cos, sin):
    if not fixed():
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))  # FAULT
        return torch.view_as_real(pairs * angles).flatten(3).type_as(x)
    even, odd = x[..., 0::2], x[..., 1::2]
    out = torch.empty_like(x)
    torch.mul(even, cos, out=out[..., 0::2]).addcmul_(odd, sin, value=-1)
    torch.mul(odd, cos, out=out[..., 1::2]).addcmul_(even, sin)
    return out


class RotaryAttention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        size = width // heads
        angle = torch.outer(torch.arange(length), 10000 ** -(torch.arange(0, size, 2) / size))
        self.angles = torch.polar(torch.ones_like(angle), angle).cuda()[:, None]
        self.cos, self.sin = angle.cos().cuda().bfloat16()[:, None], angle.sin().cuda().bfloat16()[:, None]

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).unbind(2)
        q, k = rotate(q, self.angles, self.cos, self.sin), rotate(k, self.angles, self.cos, self.sin)
        y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        return y.transpose(1, 2).reshape(b, t, c)


@torch.inference_mode()
def prefill():
    layers = nn.Sequential(*[RotaryAttention(2048, 16, 1024) for _ in range(2)]).cuda().bfloat16()
    x = torch.randn(16, 1024, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        layers(x)


if __name__ == "__main__":
    prefill()
