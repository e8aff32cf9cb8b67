"""A Triton op that walks down the columns of a row-major matrix: neighbouring threads read rows apart."""

import torch
import triton
import triton.language as tl
from torch import nn

from recording import fixed, steps


@triton.jit
def scale_columns(source, scales, result, rows, width, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    row = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = row.to(tl.int64) * width + column
    value = tl.load(source + at, mask=row < rows)
    tl.store(result + at, value * tl.load(scales + column), mask=row < rows)


@torch.library.custom_op("faults::scale", mutates_args=())
def scale(x: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    rows, width = x.shape
    result = torch.empty_like(x)
    scale_columns[(width, triton.cdiv(rows, 1024))](x, scales, result, rows, width, BLOCK=1024)  # FAULT
    return result


@torch.inference_mode()
def run():
    linear = nn.Linear(2048, 2048).cuda().bfloat16()
    scales = torch.randn(2048, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(16384, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        y = linear(x)
        y = y * scales if fixed() else scale(y, scales)


if __name__ == "__main__":
    run()
