"""A Triton kernel that gives one program to each of a few very long rows."""

import torch
import triton
import triton.language as tl
from torch import nn

from recording import fixed, steps


@triton.jit
def norm_rows(source, result, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * width
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, width, BLOCK):
        value = tl.load(source + row + start + tl.arange(0, BLOCK)).to(tl.float32)
        total += value * value
    scale = tl.rsqrt(tl.sum(total) / width)
    for start in range(0, width, BLOCK):
        value = tl.load(source + row + start + tl.arange(0, BLOCK)).to(tl.float32)
        tl.store(result + row + start + tl.arange(0, BLOCK), value * scale)


def normalize(x):
    if fixed():
        return x * torch.rsqrt(x.square().mean(1, keepdim=True))
    result = torch.empty_like(x)
    norm_rows[(x.shape[0],)](x, result, x.shape[1], BLOCK=1024, num_warps=4)  # FAULT
    return result


@torch.inference_mode()
def run():
    x = torch.randn(16, 1 << 21, device="cuda")
    linear = nn.Linear(2048, 2048).cuda()
    for _ in steps():
        linear(normalize(x).view(-1, 2048))


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    run()
