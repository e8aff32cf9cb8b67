"""Deterministic algorithms left on: each sum over a graph's edges sorts its indices first."""

import torch
from torch import nn

from recording import fixed, steps


class MessagePassing(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.update = nn.Linear(width, width)

    def forward(self, x, sources, targets):
        received = torch.zeros_like(x).index_add_(0, targets, x.index_select(0, sources))  # FAULT
        return torch.relu(self.update(received))


@torch.inference_mode()
def run():
    torch.use_deterministic_algorithms(not fixed(), warn_only=True)  # FAULT
    try:
        layers = nn.ModuleList(MessagePassing(64) for _ in range(3)).cuda()
        x = torch.randn(100_000, 64, device="cuda")
        sources = torch.randint(0, 100_000, (1_000_000,), device="cuda")
        targets = torch.randint(0, 100_000, (1_000_000,), device="cuda")
        for _ in steps():
            y = x
            for layer in layers:
                y = layer(y, sources, targets)
    finally:
        torch.use_deterministic_algorithms(False)


if __name__ == "__main__":
    run()
