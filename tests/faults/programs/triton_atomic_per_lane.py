"""A Triton kernel for the norm of gradients: each lane adds its number to the same address."""

import torch
import triton
import triton.language as tl
from torch import nn

from recording import fixed, steps


@triton.jit
def add_squares(source, total, count, BLOCK: tl.constexpr, REDUCE: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(source + lane, mask=lane < count, other=0.0)
    if REDUCE:
        tl.atomic_add(total, tl.sum(value * value, axis=0))
    else:
        tl.atomic_add(total + lane * 0, value * value, mask=lane < count)


def squared_norm(flat):
    total = torch.zeros(1, device=flat.device)
    grid = (triton.cdiv(flat.numel(), 1024),)
    add_squares[grid](flat, total, flat.numel(), BLOCK=1024, REDUCE=fixed(), num_warps=4)  # FAULT
    return total


class FlatOptimizer:
    def __init__(self, weight, rate=1e-3):
        self.weight, self.rate = weight, rate
        self.momentum = torch.zeros_like(weight)

    def step(self, gradient, limit=1.0):
        factor = (limit / squared_norm(gradient.reshape(-1)).sqrt()).clamp(max=1.0)
        self.momentum.mul_(0.9).add_(gradient * factor)
        self.weight.add_(self.momentum, alpha=-self.rate)


def forward_backward(model, x):
    model.weight.grad = None
    model(x).square().mean().backward()
    return model.weight.grad


def train():
    model = nn.Linear(2048, 2048, bias=False).cuda()
    optimizer = FlatOptimizer(model.weight.data)
    x = torch.randn(8192, 2048, device="cuda")
    for _ in steps():
        optimizer.step(forward_backward(model, x))


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
