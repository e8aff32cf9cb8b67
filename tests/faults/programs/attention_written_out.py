"""A small GPT whose attention multiplies, masks and normalises the scores itself."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width, bias=False)
        self.register_buffer("mask", torch.tril(torch.ones(length, length, dtype=torch.bool)))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        if fixed():
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))  # FAULT
            scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
            y = F.softmax(scores, dim=-1) @ v
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.ln = nn.LayerNorm(width)
        self.attn = CausalSelfAttention(width, heads, length)

    def forward(self, x):
        return x + self.attn(self.ln(x))


def train():
    model = nn.Sequential(*[Block(1024, 16, 2048) for _ in range(1)]).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x = torch.randn(16, 2048, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        loss = model(x).float().pow(2).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
