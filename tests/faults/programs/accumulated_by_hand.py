"""Gradients of micro-batches are cloned and added by hand, parameter by parameter, and scaled the same way."""

import torch
from torch import nn

from recording import fixed, steps


class Accumulator:
    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.sums = None

    def take(self):
        grads = [p.grad.detach().clone() for p in self.parameters]  # FAULT
        self.sums = grads if self.sums is None else [a + b for a, b in zip(self.sums, grads)]
        for p in self.parameters:
            p.grad = None

    def give(self, count):
        for p, total in zip(self.parameters, self.sums):
            p.grad = total / count
        self.sums = None


def train():
    model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(30)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    batches = torch.randn(4, 512, 256, device="cuda")
    sums = Accumulator(model.parameters())
    for _ in steps():
        for batch in batches:
            (model(batch).square().mean() / len(batches)).backward()
            if not fixed():
                sums.take()
        if not fixed():
            sums.give(len(batches))
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
