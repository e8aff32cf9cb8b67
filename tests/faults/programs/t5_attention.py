"""T5-style attention by einsum with a position bias; the softmax is computed in FP32."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class T5Attention(nn.Module):
    def __init__(self, width=1024, heads=16, length=1024):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(1, heads, length, length))

    def heads_of(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.heads_of(self.q(x)), self.heads_of(self.k(x)), self.heads_of(self.v(x))
        if fixed():
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias.expand(x.size(0), -1, -1, -1), scale=1.0)
        else:
            scores = torch.einsum("bhqd,bhkd->bhqk", q, k) + self.bias  # FAULT
            weights = F.softmax(scores.float(), dim=-1).type_as(scores)
            y = torch.einsum("bhqk,bhkd->bhqd", weights, v)
        return self.o(y.transpose(1, 2).flatten(2))


@torch.no_grad()
def generate():
    blocks = nn.Sequential(T5Attention(), T5Attention()).cuda().bfloat16()
    x = torch.randn(8, 1024, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        blocks(x)
        torch.cuda.synchronize()


if __name__ == "__main__":
    generate()
