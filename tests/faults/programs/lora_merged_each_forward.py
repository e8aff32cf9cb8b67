"""Fine-tuning with low-rank adapters: the full weight with its update is built in each forward pass."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class LoraLinear(nn.Module):
    def __init__(self, width=4096, rank=16, scale=2.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) * width**-0.5, requires_grad=False)
        self.down = nn.Parameter(torch.randn(rank, width) * 0.01)
        self.up = nn.Parameter(torch.zeros(width, rank))
        self.scale = scale

    def forward(self, x):
        if fixed():
            return F.linear(x, self.weight) + F.linear(F.linear(x, self.down), self.up * self.scale)
        weight = self.weight + self.scale * (self.up @ self.down)  # FAULT
        return F.linear(x, weight)


class Layer(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.first, self.second = LoraLinear(width), LoraLinear(width)

    def forward(self, x):
        return x + self.second(F.silu(self.first(self.norm(x))))


def fine_tune():
    model = nn.Sequential(*[Layer() for _ in range(4)]).cuda().bfloat16()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True)
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        loss = model(x).float().square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    fine_tune()
