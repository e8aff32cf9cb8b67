"""Training that takes a copy of all weights to the host in each step, for a checkpoint."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def snapshot(model):
    return {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}  # FAULT


def train():
    model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(4)]).cuda()
    torch.set_float32_matmul_precision("high")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    x = torch.randn(4096, 2048, device="cuda")
    kept = None
    for _ in steps():
        loss = F.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not fixed():
            kept = snapshot(model)
    return kept


if __name__ == "__main__":
    train()
