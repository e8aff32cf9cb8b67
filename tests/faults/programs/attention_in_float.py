"""Attention that widens queries, keys and values to float "for stability" before the fused kernel."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class CarefulAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        if not fixed():
            q, k, v = q.float(), k.float(), v.float()  # FAULT
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + y.to(x.dtype).transpose(1, 2).reshape(b, t, c)


@torch.inference_mode()
def prefill():
    layers = nn.Sequential(*[CarefulAttention(1024, 16) for _ in range(3)]).cuda().bfloat16()
    x = torch.randn(8, 2048, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        layers(x)


if __name__ == "__main__":
    prefill()
