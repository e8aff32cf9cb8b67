"""A request's sixty small features, each copied to the GPU by itself."""

import torch
from torch import nn

from recording import fixed, steps


def to_gpu(batch, staging):
    if fixed():
        torch.stack(list(batch.values()), out=staging)
        return staging.to("cuda", non_blocking=True)
    moved = {name: value.to("cuda") for name, value in batch.items()}  # FAULT
    return torch.stack(list(moved.values()))


@torch.inference_mode()
def serve():
    model = nn.Sequential(nn.Linear(60, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1)).cuda()
    batch = {f"feature{i}": torch.randn(2048) for i in range(60)}
    staging = torch.empty(60, 2048, pin_memory=True)
    for _ in steps():
        model(to_gpu(batch, staging).t())


if __name__ == "__main__":
    serve()
