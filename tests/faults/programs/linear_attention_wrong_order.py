"""An encoder of long documents with linear attention: positive features instead of a softmax."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def positive(x):
    return F.elu(x) + 1


class LinearAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.wqkv = nn.Linear(width, 3 * width, bias=False)
        self.wo = nn.Linear(width, width, bias=False)

    def mix(self, q, k, v):
        q = q * q.shape[-1] ** -0.5
        k = k / k.shape[2]
        if fixed():
            summary = torch.einsum("bhkd,bhkv->bhdv", k, v)
            y = torch.einsum("bhqd,bhdv->bhqv", q, summary)
        else:
            weights = torch.einsum("bhqd,bhkd->bhqk", q, k)  # FAULT
            y = torch.einsum("bhqk,bhkv->bhqv", weights, v)
        total = torch.einsum("bhqd,bhd->bhq", q, k.sum(dim=2))
        return y / total[..., None]

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.wqkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = self.mix(positive(q), positive(k), v)
        return self.wo(y.transpose(1, 2).reshape(b, t, w))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.attention = LinearAttention(width, heads)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class DocumentEncoder(nn.Module):
    def __init__(self, width=1024, heads=16, layers=2):
        super().__init__()
        self.layers = nn.Sequential(*[Layer(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(self.layers(x)).mean(dim=1)


@torch.inference_mode()
def encode():
    encoder = DocumentEncoder().cuda().bfloat16().eval()
    documents = torch.randn(2, 6144, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        encoder(documents)


if __name__ == "__main__":
    encode()
