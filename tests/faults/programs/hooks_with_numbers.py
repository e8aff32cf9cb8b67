"""Hooks watch the activations of all layers and keep their mean and spread as Python numbers."""

import torch
from torch import nn

from recording import fixed, steps


class Watch:
    def __init__(self):
        self.rows = {}

    def __call__(self, module, inputs, output):
        mean, spread = output.mean(), output.std()
        if fixed():
            self.rows[id(module)] = (mean, spread)
        else:
            self.rows[id(module)] = (float(mean), float(spread))  # FAULT


def train():
    model = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 1024), nn.ReLU()) for _ in range(8)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    watch = Watch()
    for layer in model:
        layer.register_forward_hook(watch)
    x = torch.randn(8192, 1024, device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
