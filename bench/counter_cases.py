#!/usr/bin/env python3
"""Six kernels whose counters are compared with Nsight Compute's: see bench/results/*-counters.md.

    python3 bench/counter_cases.py [LAUNCHES]
"""

import sys

import cupy
import torch

launches = int(sys.argv[1]) if len(sys.argv) > 1 else 80

conflicts = cupy.RawKernel(r"""
extern "C" __global__ void bank_conflicts(float* out, int rounds) {
  __shared__ float tile[32 * 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    tile[lane * 32 + (warp + i) % 32] = sum + i;   // all lanes of a warp in one bank
    __syncthreads();
    sum += tile[lane * 32 + (warp + i + 1) % 32];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}""", "bank_conflicts")

spills = cupy.RawKernel(r"""
extern "C" __global__ void spilling(float* out, const int* order, int rounds) {
  float local[96];
  for (int i = 0; i < 96; ++i) local[i] = threadIdx.x + i;
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    const int at = order[(r * 7 + threadIdx.x) % 96];   // not known to the compiler: local memory
    local[at] += sum;
    sum += local[(at + 13) % 96];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}""", "spilling")

torch.manual_seed(0)
a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
b = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
q, k, v = (torch.randn(4, 16, 2048, 128, device="cuda", dtype=torch.bfloat16) for _ in range(3))
big = torch.randn(64 << 20, device="cuda")
into = torch.empty_like(big)
rows = torch.randn(16384, 4096, device="cuda")
out = cupy.zeros(132 * 8 * 256, dtype=cupy.float32)
order = cupy.arange(96, dtype=cupy.int32)

for _ in range(launches):
    product = a @ b
    attention = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    into.copy_(big)
    soft = torch.softmax(rows, dim=-1)
    torch.cuda.synchronize()
    conflicts((132 * 8,), (256,), (out, cupy.int32(100)))
    spills((132 * 8,), (256,), (out, order, cupy.int32(20)))
    cupy.cuda.Device().synchronize()
print("sum %.3f" % (product.float().abs().mean() + attention.float().abs().mean() + soft.sum() / 16384).item())
