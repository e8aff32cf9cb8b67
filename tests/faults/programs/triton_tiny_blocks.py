"""A Triton kernel whose programs handle 64 elements each, with one warp."""

import torch
import triton
import triton.language as tl

from recording import fixed, steps


@triton.jit
def scale_shift(source, result, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(source + at, mask=at < count)
    tl.store(result + at, value * 1.5 + 0.5, mask=at < count)


def apply(x):
    result = torch.empty_like(x)
    block, warps = (4096, 8) if fixed() else (64, 1)
    scale_shift[(triton.cdiv(x.numel(), block),)](x, result, x.numel(), BLOCK=block, num_warps=warps)  # FAULT
    return result


@torch.inference_mode()
def run():
    x = torch.randn(1 << 26, device="cuda", dtype=torch.bfloat16)
    weight = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        apply(x).view(-1, 1024) @ weight


if __name__ == "__main__":
    run()
