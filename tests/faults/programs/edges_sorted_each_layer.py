"""A graph network that sorts the edges of a graph that never changes, in every layer of every step."""

import torch
from torch import nn

from recording import fixed, steps


class Convolution(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.order = None

    def forward(self, x, source, target):
        if self.order is None or not fixed():
            order = torch.argsort(target)  # FAULT
            counts = torch.bincount(target, minlength=x.shape[0])
            self.order = source[order], counts
        rows, counts = self.order
        return torch.relu(torch.segment_reduce(self.linear(x)[rows], "mean", lengths=counts, unsafe=True))


@torch.inference_mode()
def embed():
    source = torch.randint(0, 50000, (2_000_000,), device="cuda")
    target = torch.randint(0, 50000, (2_000_000,), device="cuda")
    layers = nn.ModuleList(Convolution(32) for _ in range(3)).cuda()
    x = torch.randn(50000, 32, device="cuda")
    for _ in steps():
        hidden = x
        for layer in layers:
            hidden = layer(hidden, source, target)


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    embed()
