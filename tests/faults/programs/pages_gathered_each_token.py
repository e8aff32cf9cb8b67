"""Serving with a paged cache: all pages of all requests are gathered into one tensor for each token."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class PagedCache:
    def __init__(self, requests, heads, size, page=16, pages=128):
        count = requests * pages
        kind = {"device": "cuda", "dtype": torch.bfloat16}
        self.keys = torch.randn(count, page, heads, size, **kind)
        self.values = torch.randn(count, page, heads, size, **kind)
        order = torch.arange(count) if fixed() else torch.randperm(count)
        self.table = order.view(requests, pages).cuda()

    def read(self, pool):
        requests, pages = self.table.shape
        if fixed():  # the pages of a request follow each other: a view is enough
            return pool.view(requests, -1, *pool.shape[2:])
        return pool[self.table].flatten(1, 2)  # FAULT

    def write(self, k, v):
        page = self.table[:, -1]
        self.keys[page, -1] = k
        self.values[page, -1] = v


class Attention(nn.Module):
    def __init__(self, requests, heads=8, size=128):
        super().__init__()
        self.heads, self.size = heads, size
        self.qkv = nn.Linear(heads * size, 3 * heads * size, bias=False)
        self.out = nn.Linear(heads * size, heads * size, bias=False)
        self.cache = PagedCache(requests, heads, size)

    def forward(self, x):
        q, k, v = self.qkv(x).view(len(x), 3, self.heads, self.size).unbind(1)
        self.cache.write(k, v)
        keys, values = self.cache.read(self.cache.keys), self.cache.read(self.cache.values)
        y = F.scaled_dot_product_attention(q[:, :, None], keys.transpose(1, 2), values.transpose(1, 2))
        return x + self.out(y.reshape(len(x), -1))


@torch.inference_mode()
def decode():
    model = nn.Sequential(*[Attention(48) for _ in range(4)]).cuda().bfloat16()
    x = torch.randn(48, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model(x)


if __name__ == "__main__":
    decode()
