"""Skips a step whose loss is not finite: the check is a synchronisation in each micro-batch."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Projector(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.inner = nn.Linear(width, 2 * width)
        self.outer = nn.Linear(2 * width, width)

    def forward(self, x):
        return self.outer(F.silu(self.inner(x)))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        self.skipped = 0

    def micro_batch(self, part):
        loss = self.model(part).square().mean()
        if not fixed() and not torch.isfinite(loss):  # FAULT
            self.skipped += 1
            return
        loss.backward()

    def step(self, batch):
        for part in batch.chunk(4):
            self.micro_batch(part)
        self.optimizer.step()
        self.optimizer.zero_grad()


def main():
    trainer = Trainer(Projector().cuda().bfloat16())
    batch = torch.randn(8192, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        trainer.step(batch)


if __name__ == "__main__":
    main()
