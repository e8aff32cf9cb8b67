"""AdamW with foreach=False: each parameter has a chain of ops of its own."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class DeepNet(nn.Module):
    def __init__(self, width=4096, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = F.tanh(layer(x))
        return x


def train():
    torch.set_float32_matmul_precision("high")
    model = DeepNet().cuda()
    if fixed():
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    x = torch.randn(2048, 4096, device="cuda")
    for _ in steps():
        loss = model(x).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # FAULT


if __name__ == "__main__":
    train()
