"""Grouped-query attention that repeats keys and values to the number of query heads."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class GroupedQueryAttention(nn.Module):
    def __init__(self, width=2048, heads=32, kv_heads=4):
        super().__init__()
        self.heads, self.kv_heads, self.dim = heads, kv_heads, width // heads
        self.wq = nn.Linear(width, width, bias=False)
        self.wo = nn.Linear(width, width, bias=False)

    def forward(self, x, keys, values):
        b, t, c = x.shape
        q = self.wq(x).view(b, t, self.heads, self.dim).transpose(1, 2)
        if fixed():
            groups = self.heads // self.kv_heads
            # One query per sequence: the heads of a group are the rows of one product.
            q = q.reshape(b, self.kv_heads, groups, self.dim)
            y = F.scaled_dot_product_attention(q, keys, values).reshape(b, self.heads, t, self.dim)
        else:
            keys = keys.repeat_interleave(self.heads // self.kv_heads, dim=1)  # FAULT
            values = values.repeat_interleave(self.heads // self.kv_heads, dim=1)
            y = F.scaled_dot_product_attention(q, keys, values)
        return self.wo(y.transpose(1, 2).reshape(b, t, c))


@torch.inference_mode()
def decode():
    layers = nn.ModuleList(GroupedQueryAttention() for _ in range(3)).cuda().bfloat16()
    x = torch.randn(32, 1, 2048, device="cuda", dtype=torch.bfloat16)
    keys = torch.randn(32, 4, 4096, 64, device="cuda", dtype=torch.bfloat16)
    values = torch.randn_like(keys)
    for _ in steps():
        y = x
        for layer in layers:
            y = y + layer(y, keys, values)


if __name__ == "__main__":
    decode()
