"""Data-parallel training, recorded with one process: gradients are reduced in buckets that are far too small."""

import os

import torch
import torch.distributed as dist
from torch import nn

from recording import fixed, steps


class TwoTower(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.user = nn.Linear(width, width, bias=False)

    def forward(self, x):
        return torch.relu(self.user(x))


def reduce_gradients(model):
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    if fixed():
        dist.all_reduce(flat, op=dist.ReduceOp.AVG)
        return
    for bucket in flat.split(1 << 17):
        dist.all_reduce(bucket, op=dist.ReduceOp.AVG)  # FAULT


def train():
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    if not dist.is_initialized():
        dist.init_process_group("nccl", rank=0, world_size=1, device_id=torch.device("cuda", 0))
    model = TwoTower().cuda().bfloat16()
    x = torch.randn(8192, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model.zero_grad()
        model(x).mean().backward()
        reduce_gradients(model)


if __name__ == "__main__":
    train()
