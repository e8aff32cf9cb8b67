"""Decoding that attends to the whole preallocated cache, with a mask over the part that is still empty."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Cache:
    def __init__(self, batch, heads, size, capacity=8192, filled=700):
        kind = {"device": "cuda", "dtype": torch.bfloat16}
        self.keys = torch.zeros(batch, heads, capacity, size, **kind)
        self.values = torch.zeros(batch, heads, capacity, size, **kind)
        self.capacity, self.filled = capacity, filled

    def append(self, k, v):
        self.keys[:, :, self.filled] = k
        self.values[:, :, self.filled] = v
        self.filled += 1

    def mask(self):
        return (torch.arange(self.capacity, device="cuda") < self.filled)[None, None, None]


class Attention(nn.Module):
    def __init__(self, batch, heads=16, size=128):
        super().__init__()
        self.heads, self.size = heads, size
        self.qkv = nn.Linear(heads * size, 3 * heads * size, bias=False)
        self.out = nn.Linear(heads * size, heads * size, bias=False)
        self.cache = Cache(batch, heads, size)

    def attend(self, q):
        keys, values = self.cache.keys, self.cache.values
        if fixed():
            filled = self.cache.filled
            return F.scaled_dot_product_attention(q, keys[:, :, :filled], values[:, :, :filled])
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=self.cache.mask())  # FAULT

    def forward(self, x):
        q, k, v = self.qkv(x).view(len(x), 3, self.heads, self.size).unbind(1)
        self.cache.append(k, v)
        return x + self.out(self.attend(q[:, :, None]).reshape(len(x), -1))


@torch.inference_mode()
def decode():
    model = nn.Sequential(*[Attention(16) for _ in range(3)]).cuda().bfloat16()
    x = torch.randn(16, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model(x)


if __name__ == "__main__":
    decode()
