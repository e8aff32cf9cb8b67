"""Cross attention that was pinned to the math backend while debugging."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from recording import fixed, steps


class CrossAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width)
        self.to_kv = nn.Linear(width, 2 * width)
        self.to_out = nn.Linear(width, width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, context):
        q = self.split(self.to_q(x))
        k, v = map(self.split, self.to_kv(context).chunk(2, -1))
        if fixed():
            out = F.scaled_dot_product_attention(q, k, v)
        else:
            with sdpa_kernel(SDPBackend.MATH):
                out = F.scaled_dot_product_attention(q, k, v)  # FAULT
        return self.to_out(out.transpose(1, 2).flatten(2))


@torch.inference_mode()
def denoise():
    layers = nn.ModuleList(CrossAttention(1280, 20) for _ in range(2)).cuda().half()
    latents = torch.randn(4, 4096, 1280, device="cuda", dtype=torch.float16)
    context = torch.randn(4, 1024, 1280, device="cuda", dtype=torch.float16)
    for _ in steps():
        x = latents
        for layer in layers:
            x = x + layer(x, context)


if __name__ == "__main__":
    denoise()
