"""Training that looks for numbers that are not finite after each layer's gradient, in Python."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def gradients_are_sound(model):
    for parameter in model.parameters():
        if not torch.isfinite(parameter.grad).all():  # FAULT
            return False
    return True


def train():
    torch.set_float32_matmul_precision("high")
    model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(6)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    x = torch.randn(4096, 2048, device="cuda")
    for _ in steps():
        loss = F.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        if fixed() or gradients_are_sound(model):
            optimizer.step()


if __name__ == "__main__":
    train()
