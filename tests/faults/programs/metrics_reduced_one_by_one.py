"""Data-parallel training (here one process) that averages its metrics over the processes in every step."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

TASKS = 32


class MultiTask(nn.Module):
    def __init__(self, width=2048, layers=6):
        super().__init__()
        self.trunk = nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in range(layers)])
        self.heads = nn.Linear(width, TASKS)

    def forward(self, x):
        return self.heads(self.trunk(x))


class Metrics:
    def __init__(self):
        self.history = []

    def averages(self, losses):
        """Mean loss of each task over all processes, as numbers."""
        world = dist.get_world_size()
        if fixed():
            values = losses.detach().clone()
            dist.all_reduce(values)
            return (values / world).tolist()
        numbers = []
        for task in range(TASKS):
            value = losses[task].detach().clone()
            dist.all_reduce(value)  # FAULT
            numbers.append(value.item() / world)
        return numbers

    def log(self, losses):
        self.history.append(self.averages(losses))


def train():
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    model = nn.parallel.DistributedDataParallel(MultiTask().cuda().to(torch.bfloat16), gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    metrics = Metrics()
    features = torch.randn(4096, 2048, device="cuda", dtype=torch.bfloat16)
    targets = torch.rand(4096, TASKS, device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        losses = F.binary_cross_entropy_with_logits(model(features).float(), targets, reduction="none").mean(0)
        losses.sum().backward()
        optimizer.step()
        metrics.log(losses)
    dist.destroy_process_group()


if __name__ == "__main__":
    train()
