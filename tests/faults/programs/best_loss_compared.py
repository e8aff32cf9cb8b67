"""The best loss so far is kept with Python's min, once for each of many small batches."""

import torch
from torch import nn

from recording import fixed, steps


class Watch:
    def __init__(self):
        self.best = None

    def take(self, loss):
        if self.best is None:
            self.best = loss.detach()
        elif fixed():
            self.best = torch.minimum(self.best, loss.detach())
        else:
            self.best = min(self.best, loss.detach())  # FAULT


def train():
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    batches = torch.randn(6, 4096, 1024, device="cuda")
    watch = Watch()
    for _ in steps():
        for batch in batches:
            optimizer.zero_grad()
            loss = (model(batch) - batch).square().mean()
            watch.take(loss)
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
