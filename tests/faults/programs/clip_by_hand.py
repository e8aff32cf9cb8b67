"""Gradient clipping written by hand: the norm of each parameter's gradient is read on the host."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def clip(parameters, limit):
    if fixed():
        nn.utils.clip_grad_norm_(parameters, limit, foreach=True)
        return
    total = 0.0
    for parameter in parameters:
        total += parameter.grad.data.norm(2).item() ** 2  # FAULT
    scale = limit / (total**0.5 + 1e-6)
    if scale < 1:
        for parameter in parameters:
            parameter.grad.data.mul_(scale)


def train():
    model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).cuda().bfloat16()
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    x = torch.randn(8192, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        loss = F.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        clip(parameters, 0.01)
        optimizer.step()


if __name__ == "__main__":
    train()
