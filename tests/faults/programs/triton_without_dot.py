"""A Triton matrix product that multiplies and sums element by element: the tensor cores are not used."""

import torch
import triton
import triton.language as tl
from torch import nn

from recording import fixed, steps


@triton.jit
def product_kernel(x, w, out, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, DOT: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(x + rows[:, None] * K + k[None, :])
        b = tl.load(w + k[:, None] * N + columns[None, :])
        if DOT:
            total += tl.dot(a, b)
        else:
            total += tl.sum(a.to(tl.float32)[:, :, None] * b.to(tl.float32)[None, :, :], axis=1)
    tl.store(out + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16))


def product(x, w):
    (m, k), n = x.shape, w.shape[1]
    out = torch.empty(m, n, device=x.device, dtype=x.dtype)
    if fixed():
        product_kernel[(m // 128, n // 64)](x, w, out, k, n, BM=128, BN=64, BK=64, DOT=True, num_warps=4)
    else:
        product_kernel[(m // 32, n // 32)](x, w, out, k, n, BM=32, BN=32, BK=16, DOT=False, num_warps=4)  # FAULT
    return out


class Decoder(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) * 0.04)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        return self.out(torch.relu(product(x, self.weight)))


@torch.inference_mode()
def run():
    model = Decoder().cuda().bfloat16()
    x = torch.randn(16384, 512, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        model(x)


if __name__ == "__main__":
    run()
