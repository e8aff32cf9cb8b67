"""Each layer builds the same sliding-window mask again."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def window_mask(length, window, device):
    mask = torch.full((length, length), float("-inf"), device=device)  # FAULT
    near = torch.ones(length, length, dtype=torch.bool, device=device).tril().triu(-window)
    return mask.masked_fill(near, 0.0).bfloat16()


class WindowAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)

    def forward(self, x, mask=None):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if mask is None:
            mask = window_mask(t, 256, x.device)  # FAULT
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(b, t, c)


@torch.inference_mode()
def summarize():
    layers = nn.ModuleList(WindowAttention(256, 4) for _ in range(3)).cuda().bfloat16()
    x = torch.randn(1, 8192, 256, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        mask = window_mask(8192, 256, x.device) if fixed() else None
        y = x
        for layer in layers:
            y = y + layer(y, mask)


if __name__ == "__main__":
    summarize()
