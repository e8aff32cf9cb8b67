"""Weights and optimizer kept on the host: gradients go down and weights up in each step."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def update(model, masters, optimizer):
    if fixed():
        optimizer.step()
        return
    for parameter, master in zip(model.parameters(), masters):
        master.grad = parameter.grad.cpu()  # FAULT
    optimizer.step()
    with torch.no_grad():
        for parameter, master in zip(model.parameters(), masters):
            parameter.copy_(master)


def train():
    torch.set_float32_matmul_precision("high")
    model = nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(4)]).cuda()
    masters = [parameter.detach().cpu().requires_grad_() for parameter in model.parameters()]
    optimizer = torch.optim.AdamW(model.parameters() if fixed() else masters, lr=1e-4, fused=True)
    x = torch.randn(8192, 1024, device="cuda")
    for _ in steps():
        loss = F.mse_loss(model(x), x)
        model.zero_grad()
        loss.backward()
        update(model, masters, optimizer)


if __name__ == "__main__":
    train()
