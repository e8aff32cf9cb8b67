"""Decoding whose key/value cache grows by torch.cat in each step."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from recording import fixed, steps


class CachedAttention(nn.Module):
    def __init__(self, batch, width=2048, heads=16, prompt=3000, room=3100):
        super().__init__()
        self.heads = heads
        self.wqkv = nn.Linear(width, 3 * width, bias=False)
        self.wo = nn.Linear(width, width, bias=False)
        shape = (batch, heads, room if fixed() else prompt, width // heads)
        self.keys = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
        self.values = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
        self.length = prompt

    def append(self, k, v):
        if fixed():
            self.keys[:, :, self.length : self.length + 1] = k
            self.values[:, :, self.length : self.length + 1] = v
        else:
            self.keys = torch.cat([self.keys, k], dim=2)  # FAULT
            self.values = torch.cat([self.values, v], dim=2)
        self.length += 1
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

    def forward(self, x):
        b = x.shape[0]
        q, k, v = self.wqkv(x).view(b, 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        keys, values = self.append(k, v)
        y = F.scaled_dot_product_attention(q, keys, values)
        return self.wo(y.transpose(1, 2).reshape(b, 1, -1))


@torch.inference_mode()
def generate():
    layers = nn.ModuleList(CachedAttention(24) for _ in range(3)).cuda().bfloat16()
    token = torch.randn(24, 1, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        x = token
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            for layer in layers:
                x = x + layer(x)


if __name__ == "__main__":
    generate()
