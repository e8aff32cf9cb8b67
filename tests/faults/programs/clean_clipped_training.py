"""Training with clipped gradients and a schedule as the library offers them; the loss is read once, at the end."""

import torch
from torch import nn

from recording import steps


def train():
    model = nn.Sequential(nn.Linear(4096, 16384, bias=False), nn.GELU(), nn.Linear(16384, 4096, bias=False))
    model = model.cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1000)
    x = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
    total = torch.zeros((), device="cuda")
    for _ in steps():
        loss = nn.functional.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += loss.detach()


if __name__ == "__main__":
    train()
