"""Near-twin of one backward per task: each backward belongs to its own large part of the batch."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Network(nn.Module):
    def __init__(self, width=4096, depth=3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.head = nn.Linear(width, 128)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.head(x)


def accumulate(model, x, labels, parts):
    for part, label in zip(x.chunk(parts), labels.chunk(parts)):
        loss = F.cross_entropy(model(part), label) / parts
        loss.backward()


def train():
    model = Network().cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x = torch.randn(32768, 4096, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 128, (32768,), device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        accumulate(model, x, labels, 2)
        optimizer.step()


if __name__ == "__main__":
    train()
