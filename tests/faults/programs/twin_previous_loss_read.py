"""Training that reads its loss in every step, but the one of the step before, copied in the background."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Block(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class LossReader:
    """Hands out numbers one step late; the GPU has always the next step's work when the host waits."""

    def __init__(self):
        self.slots = [torch.zeros((), pin_memory=True) for _ in range(2)]
        self.events = [torch.cuda.Event() for _ in range(2)]
        self.count = 0
        self.history = []

    def push(self, loss):
        slot = self.count % 2
        self.slots[slot].copy_(loss.detach(), non_blocking=True)
        self.events[slot].record()
        self.count += 1

    def previous(self):
        if self.count >= 2:
            slot = self.count % 2
            self.events[slot].synchronize()
            self.history.append(self.slots[slot].item())


def train():
    model = nn.Sequential(*[Block() for _ in range(6)], nn.Linear(2048, 256)).cuda().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    reader = LossReader()
    tokens = torch.randn(16384, 2048, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 256, (16384,), device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(tokens).float(), labels)
        loss.backward()
        optimizer.step()
        reader.push(loss)
        reader.previous()


if __name__ == "__main__":
    train()
