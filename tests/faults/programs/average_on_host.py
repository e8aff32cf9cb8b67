"""The moving average of the weights is kept in host memory: each parameter is copied there in each step."""

import torch
from torch import nn

from recording import fixed, steps


class Average:
    def __init__(self, model, device):
        self.shadow = [p.detach().to(device).clone() for p in model.parameters()]

    def update(self, model):
        if fixed():
            torch._foreach_lerp_(self.shadow, [p.detach() for p in model.parameters()], 0.01)
            return
        for kept, parameter in zip(self.shadow, model.parameters()):
            kept.lerp_(parameter.detach().cpu(), 0.01)  # FAULT


def train():
    model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(6)]).cuda()
    average = Average(model, "cuda" if fixed() else "cpu")
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    x = torch.randn(8192, 1024, device="cuda")
    for _ in steps(timed=10):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        average.update(model)


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
