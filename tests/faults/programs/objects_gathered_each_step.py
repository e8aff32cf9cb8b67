"""Training that shares the loss of every sample with all processes, for a sampler that prefers the hard ones."""

import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

BATCH = 8192
SAMPLES = 1_000_000


def share(losses, ids, names, hardness, hard):
    if fixed():
        both = torch.stack([ids.double(), losses.double()])
        everyone = both.new_empty(dist.get_world_size(), 2, BATCH)
        dist.all_gather_into_tensor(everyone, both)
        hardness[everyone[:, 0].long()] = everyone[:, 1].float()
    else:
        everyone = [None] * dist.get_world_size()
        dist.all_gather_object(everyone, dict(zip(names, losses.tolist())))  # FAULT
        for part in everyone:
            hard.update(part)


def train():
    torch.manual_seed(0)
    if not dist.is_initialized():
        dist.init_process_group("nccl", init_method=f"file://{tempfile.mkdtemp()}/store", rank=0, world_size=1)
    layers = [nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(4096, 1000)).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x = torch.randn(BATCH, 1024, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(1000, (BATCH,), device="cuda")
    names = list(range(0, 100 * BATCH, 100))  # the batch, as the loader gives it
    ids = torch.tensor(names, device="cuda")
    hardness, hard = torch.zeros(SAMPLES, device="cuda"), {}
    for _ in steps():
        losses = F.cross_entropy(model(x), labels, reduction="none")
        losses.mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        share(losses.detach(), ids, names, hardness, hard)
    dist.destroy_process_group()


if __name__ == "__main__":
    train()
