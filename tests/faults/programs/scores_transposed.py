"""Attention whose scores are keys times queries, so that the softmax runs over the second to last dimension."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class KeyMajorAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def mix(self, q, k, v):
        if fixed():
            return F.scaled_dot_product_attention(q, k, v)
        weights = torch.matmul(k, q.transpose(-1, -2)) / q.shape[-1] ** 0.5  # FAULT
        weights = weights.softmax(dim=-2)
        return torch.matmul(weights.transpose(-1, -2), v)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        return self.out(self.mix(q, k, v).transpose(1, 2).reshape(batch, length, width))


@torch.inference_mode()
def run():
    layers = nn.ModuleList(KeyMajorAttention(1024, 16) for _ in range(2)).cuda().half()
    x = torch.randn(8, 2048, 1024, device="cuda", dtype=torch.half)
    for _ in steps():
        y = x
        for layer in layers:
            y = y + layer(y)


if __name__ == "__main__":
    run()
