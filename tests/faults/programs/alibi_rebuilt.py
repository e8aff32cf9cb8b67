"""ALiBi: every layer computes the same bias from positions and slopes."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class AlibiAttention(nn.Module):
    def __init__(self, width=512, heads=8):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.register_buffer("slopes", 2.0 ** -torch.arange(1, heads + 1).float())

    def alibi(self, length):
        place = torch.arange(length, device=self.slopes.device)
        distance = (place[None, :] - place[:, None]).abs()
        return (-distance[None] * self.slopes[:, None, None].float()).to(self.slopes.dtype)  # FAULT

    def forward(self, x, bias=None):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if bias is None:
            bias = self.alibi(t)  # FAULT
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None]).transpose(1, 2).reshape(b, t, c)


@torch.inference_mode()
def prefill():
    layers = nn.ModuleList(AlibiAttention() for _ in range(4)).cuda().bfloat16()
    x = torch.randn(2, 2048, 512, device="cuda", dtype=torch.bfloat16)
    shared = layers[0].alibi(2048) if fixed() else None
    for _ in steps():
        y = x
        for layer in layers:
            y = y + layer(y, shared)


if __name__ == "__main__":
    prefill()
