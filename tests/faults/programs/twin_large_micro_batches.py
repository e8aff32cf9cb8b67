"""Near-twin of micro-batches that are too small: each of the two fills the GPU, gradients are reduced once."""

import os

import torch
import torch.distributed as dist
from torch import nn

from recording import steps


def train():
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29513")
    if not dist.is_initialized():
        dist.init_process_group("nccl", rank=0, world_size=1, device_id=torch.device("cuda", 0))
    model = nn.Sequential(nn.Linear(4096, 4096, bias=False), nn.ReLU(), nn.Linear(4096, 4096, bias=False))
    model = model.cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    batches = [torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16) for _ in range(2)]
    for _ in steps():
        optimizer.zero_grad()
        for batch in batches:
            model(batch).mean().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
        optimizer.step()


if __name__ == "__main__":
    train()
