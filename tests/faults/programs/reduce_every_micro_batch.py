"""Accumulates gradients over four micro-batches and reduces them after each one, recorded with one process."""

import os

import torch
import torch.distributed as dist
from torch import nn

from recording import fixed, steps


def reduce_gradients(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)  # FAULT


def train_step(model, batches):
    model.zero_grad()
    for number, batch in enumerate(batches):
        model(batch).square().mean().backward()
        if not fixed() or number + 1 == len(batches):
            reduce_gradients(model)  # FAULT


def train():
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29512")
    if not dist.is_initialized():
        dist.init_process_group("nccl", rank=0, world_size=1, device_id=torch.device("cuda", 0))
    model = nn.Sequential(nn.Linear(8192, 8192, bias=False), nn.ReLU(), nn.Linear(8192, 8192, bias=False))
    model = model.cuda().bfloat16()
    batches = [torch.randn(512, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
    for _ in steps():
        train_step(model, batches)


if __name__ == "__main__":
    train()
