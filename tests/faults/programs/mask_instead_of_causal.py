"""Causal attention that passes a full triangular mask instead of is_causal: the kernel reads it and skips nothing."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class CausalAttention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.register_buffer("mask", torch.ones(length, length, dtype=torch.bool).tril())

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        if fixed():
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)  # FAULT
        return x + y.transpose(1, 2).reshape(b, t, c)


@torch.inference_mode()
def prefill():
    layers = nn.Sequential(*[CausalAttention(1024, 16, 4096) for _ in range(3)]).cuda().bfloat16()
    x = torch.randn(4, 4096, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        layers(x)


if __name__ == "__main__":
    prefill()
