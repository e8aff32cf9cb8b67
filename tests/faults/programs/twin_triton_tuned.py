"""Near-twin of a Triton op with strides: the same op, reading along the rows with large blocks."""

import torch
import triton
import triton.language as tl
from torch import nn

from recording import steps


@triton.jit
def scale_rows(source, scales, result, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    value = tl.load(source + row * width + column, mask=column < width)
    tl.store(result + row * width + column, value * tl.load(scales + column, mask=column < width), mask=column < width)


@torch.library.custom_op("faults::scale_rows", mutates_args=())
def scale(x: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    result = torch.empty_like(x)
    scale_rows[(x.shape[0],)](x, scales, result, x.shape[1], BLOCK=4096, num_warps=8)
    return result


@torch.inference_mode()
def run():
    linear = nn.Linear(4096, 4096).cuda().bfloat16()
    scales = torch.randn(4096, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        for _ in range(2):
            scale(linear(x), scales)


if __name__ == "__main__":
    run()
