"""Prefill of gated feed-forward layers; the activation is a Triton kernel with large blocks."""

import torch
import triton
import triton.language as tl
from torch import nn

from recording import steps


@triton.jit
def swiglu_kernel(source, result, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < width
    gate = tl.load(source + row * 2 * width + column, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(source + row * 2 * width + width + column, mask=inside, other=0.0).to(tl.float32)
    value = gate * tl.sigmoid(gate) * up
    tl.store(result + row * width + column, value.to(tl.bfloat16), mask=inside)


def swiglu(x, block=2048):
    rows, width = x.shape[0], x.shape[1] // 2
    result = torch.empty(rows, width, device=x.device, dtype=x.dtype)
    swiglu_kernel[(rows, triton.cdiv(width, block))](x, result, width, BLOCK=block, num_warps=8)
    return result


class FeedForward(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gate_up = nn.Linear(width, 2 * inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return x + self.down(swiglu(self.gate_up(self.norm(x))))


@torch.inference_mode()
def prefill():
    with torch.device("cuda"):
        layers = nn.Sequential(*[FeedForward(4096, 14336) for _ in range(3)]).bfloat16()
    tokens = torch.randn(6144, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        layers(tokens)


if __name__ == "__main__":
    prefill()
