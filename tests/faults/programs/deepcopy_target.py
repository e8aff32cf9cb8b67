"""Training against a target network that is made by copy.deepcopy in each step."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def refresh(target, model):
    if fixed():
        torch._foreach_copy_(list(target.parameters()), list(model.parameters()))
        return target
    return copy.deepcopy(model)  # FAULT


def train():
    torch.set_float32_matmul_precision("high")
    model = nn.Sequential(*[nn.Linear(512, 512) for _ in range(8)]).cuda()
    target = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    x = torch.randn(1024, 512, device="cuda")
    for _ in steps():
        with torch.no_grad():
            target = refresh(target, model)
            wanted = target(x) * 0.99
        loss = F.smooth_l1_loss(model(x), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
