"""A Triton kernel for residual and norm over rows of 8192, in a stack of adapters."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn

from recording import fixed, steps

WIDTH = 8192


@triton.jit
def residual_norm_kernel(x, residual, weight, total, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    value = tl.load(x + row * columns + places, mask=inside, other=0.0).to(tl.float32)
    value += tl.load(residual + row * columns + places, mask=inside, other=0.0).to(tl.float32)
    tl.store(total + row * columns + places, value.to(tl.bfloat16), mask=inside)
    scale = 1 / tl.sqrt(tl.sum(value * value, 0) / columns + epsilon)
    gain = tl.load(weight + places, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * columns + places, (value * scale * gain).to(tl.bfloat16), mask=inside)


def residual_norm(x, residual, weight):
    total, out = torch.empty_like(x), torch.empty_like(x)
    rows, columns = x.shape
    warps = 16 if fixed() else 1
    residual_norm_kernel[(rows,)](
        x, residual, weight, total, out, columns, 1e-6, BLOCK=triton.next_power_of_2(columns), num_warps=warps  # FAULT
    )
    return total, out


class Adapter(nn.Module):
    def __init__(self, inner=512):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))
        self.down = nn.Linear(WIDTH, inner, bias=False)
        self.up = nn.Linear(inner, WIDTH, bias=False)

    def forward(self, x, residual):
        total, normed = residual_norm(x, residual, self.weight)
        return self.up(F.gelu(self.down(normed))), total


@torch.no_grad()
def adapt():
    adapters = nn.ModuleList(Adapter() for _ in range(4)).cuda().to(torch.bfloat16)
    x = torch.randn(16384, WIDTH, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        new, residual = x, x
        for adapter in adapters:
            new, residual = adapter(new, residual)


if __name__ == "__main__":
    adapt()
