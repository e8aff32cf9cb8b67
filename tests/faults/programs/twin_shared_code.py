"""Near-twin of recomputation: one module is used twice in forward (a Siamese tower); nothing is recomputed."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Tower(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.a = nn.Linear(width, width, bias=False)
        self.b = nn.Linear(width, width, bias=False)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


def train():
    tower = Tower().cuda().bfloat16()
    optimizer = torch.optim.SGD(tower.parameters(), lr=1e-3, fused=True)
    left = torch.randn(8192, 4096, device="cuda", dtype=torch.bfloat16)
    right = torch.randn(8192, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        loss = F.mse_loss(tower(left), tower(right))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
