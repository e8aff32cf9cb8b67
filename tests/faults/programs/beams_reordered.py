"""Beam search that copies the whole cache of keys and values for each token, to put the beams into order."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Cache:
    def __init__(self, layers, beams, heads, room, size):
        shape = (beams, heads, room, size)
        self.layers = [[torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in "kv"] for _ in range(layers)]

    def reorder(self, beams):
        for pair in self.layers:
            pair[0] = pair[0].index_select(0, beams)  # FAULT
            pair[1] = pair[1].index_select(0, beams)


class Layer(nn.Module):
    def __init__(self, heads, size):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(heads * size, heads * size, bias=False)

    def forward(self, x, keys, values, mask):
        q = self.query(x).view(x.shape[0], self.heads, 1, -1)
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        return x + y.reshape(x.shape)


@torch.inference_mode()
def decode():
    cache = Cache(3, 32, 16, 2048, 64)
    layers = nn.ModuleList(Layer(16, 64) for _ in range(3)).cuda().bfloat16()
    x = torch.randn(32, 1024, device="cuda", dtype=torch.bfloat16)
    beams = torch.randperm(32, device="cuda")
    mask = torch.zeros(32, 1, 1, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        y = x
        for layer, (keys, values) in zip(layers, cache.layers):
            y = layer(y, keys, values, mask)
        if fixed():
            mask = mask.index_select(0, beams)
        else:
            cache.reorder(beams)


if __name__ == "__main__":
    decode()
