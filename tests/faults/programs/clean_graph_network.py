"""Training of a graph network: lookups and additions of rows over many edges, at the memory's rate."""

import torch
from torch import nn

from recording import steps


class Convolution(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.own, self.other = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, source, target):
        sums = torch.zeros_like(x).index_add(0, target, x.index_select(0, source))
        return torch.relu(self.own(x) + self.other(sums))


def train():
    source = torch.randint(0, 100_000, (1_000_000,), device="cuda")
    target = torch.randint(0, 100_000, (1_000_000,), device="cuda")
    layers = nn.ModuleList(Convolution(128) for _ in range(3)).cuda()
    optimizer = torch.optim.AdamW(layers.parameters(), fused=True)
    x = torch.randn(100_000, 128, device="cuda")
    for _ in steps():
        hidden = x
        for layer in layers:
            hidden = layer(hidden, source, target)
        optimizer.zero_grad()
        hidden.square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
