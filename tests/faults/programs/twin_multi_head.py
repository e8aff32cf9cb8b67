"""Near-twin of repeated keys and values: as many key heads as query heads, fused attention."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class MultiHead(nn.Module):
    def __init__(self, width=2048, heads=16):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


@torch.inference_mode()
def run():
    model = nn.Sequential(MultiHead(), MultiHead()).cuda().bfloat16()
    x = torch.randn(8, 4096, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        model(x)


if __name__ == "__main__":
    run()
