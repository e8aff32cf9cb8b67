"""A custom Triton kernel: linear layer, bias and SiLU in one; its tiles were chosen large."""

import torch
import triton
import triton.language as tl

from recording import fixed, steps


@triton.jit
def linear_silu_kernel(
    a, b, bias, out, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    left = a + rows[:, None] * K + inner[None, :]
    right = b + inner[:, None] * N + columns[None, :]
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, K, TILE_K):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += TILE_K
        right += TILE_K * N
    total += tl.load(bias + columns)[None, :].to(tl.float32)
    total = total * tl.sigmoid(total)
    tl.store(out + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16))


def linear_silu(x, weight, bias):
    m, k = x.shape
    n = weight.shape[1]
    out = torch.empty(m, n, device=x.device, dtype=x.dtype)
    if fixed():
        tile, warps = (128, 256, 64), 8
    else:
        tile, warps = (256, 256, 32), 4  # FAULT
    grid = (m // tile[0], n // tile[1])
    linear_silu_kernel[grid](x, weight, bias, out, n, k, *tile, num_warps=warps, num_stages=3)  # FAULT
    return out


@torch.inference_mode()
def serve():
    weights = [torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16) / 64 for _ in range(4)]
    biases = [torch.randn(4096, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        y = x
        for weight, bias in zip(weights, biases):
            y = linear_silu(y, weight, bias)


if __name__ == "__main__":
    torch.manual_seed(0)
    serve()
