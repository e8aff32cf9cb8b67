"""The penalty on the weights is a part of the loss, summed parameter by parameter, and goes through autograd."""

import torch
from torch import nn

from recording import fixed, steps


def penalty(model):
    return sum(p.pow(2).sum() for p in model.parameters())  # FAULT


def train():
    model = nn.Sequential(*[nn.Linear(512, 512) for _ in range(24)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, weight_decay=0.01 if fixed() else 0.0, fused=True)
    x = torch.randn(2048, 512, device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        if not fixed():
            loss = loss + 0.005 * penalty(model)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
