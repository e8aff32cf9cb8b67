"""Data-parallel training with a world of one process: every gradient is reduced by a call of its own."""

import os

import torch
import torch.distributed as dist
from torch import nn

from recording import fixed, steps


class Ladder(nn.Module):
    def __init__(self, width=512, rungs=16):
        super().__init__()
        self.rungs = nn.ModuleList(nn.Linear(width, width) for _ in range(rungs))

    def forward(self, x):
        for rung in self.rungs:
            x = torch.relu(rung(x))
        return x


def reduce_gradients(model):
    grads = [p.grad for p in model.parameters()]
    if fixed():
        flat = torch.cat([g.flatten() for g in grads])
        dist.all_reduce(flat, op=dist.ReduceOp.AVG)
        return
    for grad in grads:
        dist.all_reduce(grad, op=dist.ReduceOp.AVG)  # FAULT


def train():
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    if not dist.is_initialized():
        dist.init_process_group("nccl", rank=0, world_size=1, device_id=torch.device("cuda", 0))
    model = Ladder().cuda().bfloat16()
    x = torch.randn(4096, 512, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model.zero_grad()
        model(x).mean().backward()
        reduce_gradients(model)


if __name__ == "__main__":
    train()
