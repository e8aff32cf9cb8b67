"""Prefill with repeat_kv as in the transformers library: expand and reshape copy keys and values."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def repeat_kv(states, repeats):
    batch, heads, length, dim = states.shape
    states = states[:, :, None].expand(batch, heads, repeats, length, dim)
    return states.reshape(batch, heads * repeats, length, dim)  # FAULT


class Attention(nn.Module):
    def __init__(self, width=2048, heads=32, kv_heads=2):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.kv_proj = nn.Linear(width, 2 * width // heads * kv_heads, bias=False)

    def forward(self, x, past):
        b, t, c = x.shape
        q = self.q_proj(x).view(b, t, self.heads, -1).transpose(1, 2)
        k, v = past
        if fixed():
            return F.scaled_dot_product_attention(q, k, v, enable_gqa=True).transpose(1, 2).reshape(b, t, c)
        k, v = repeat_kv(k, self.heads // self.kv_heads), repeat_kv(v, self.heads // self.kv_heads)
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, c)


@torch.inference_mode()
def extend():
    layers = nn.ModuleList(Attention() for _ in range(3)).cuda().bfloat16()
    x = torch.randn(16, 8, 2048, device="cuda", dtype=torch.bfloat16)
    past = tuple(torch.randn(16, 2, 4096, 64, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    for _ in steps():
        y = x
        for layer in layers:
            y = y + layer(y, past)


if __name__ == "__main__":
    extend()
