"""A Triton kernel for rotations that is launched once for every head of every layer."""

import torch
import triton
import triton.language as tl
from torch import nn

from recording import fixed, steps


@triton.jit
def rotate(source, cosines, sines, heads, HALF: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, HALF)
    base = source + (row * heads + tl.program_id(1)) * 2 * HALF
    a, b = tl.load(base + at), tl.load(base + HALF + at)
    c, s = tl.load(cosines + row * HALF + at), tl.load(sines + row * HALF + at)
    tl.store(base + at, a * c - b * s)
    tl.store(base + HALF + at, a * s + b * c)


def rotate_heads(x, cosines, sines):
    rows, heads, size = x.shape
    if fixed():
        rotate[(rows, heads)](x, cosines, sines, heads, HALF=size // 2)
        return
    for head in range(heads):
        rotate[(rows, 1)](x[:, head], cosines, sines, heads, HALF=size // 2)  # FAULT


@torch.inference_mode()
def prefill():
    layers = nn.ModuleList(nn.Linear(2048, 2048) for _ in range(4)).cuda().bfloat16()
    x = torch.randn(512, 2048, device="cuda", dtype=torch.bfloat16)
    cosines, sines = torch.rand(2, 512, 32, device="cuda").bfloat16()
    for _ in steps():
        for layer in layers:
            y = layer(x)
            rotate_heads(y.view(512, 32, 64), cosines, sines)


if __name__ == "__main__":
    prefill()
