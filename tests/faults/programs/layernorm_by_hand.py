"""Layer normalisation from mean and variance, in training."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class SimpleNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        if fixed():
            return F.layer_norm(x, x.shape[-1:], self.scale, self.shift)
        mean = x.mean(-1, keepdim=True)
        variance = (x - mean).pow(2).mean(-1, keepdim=True)  # FAULT
        return self.scale * (x - mean) / torch.sqrt(variance + 1e-5) + self.shift


class NormedLinear(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = SimpleNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(self.norm(x))


def train():
    model = NormedLinear(2048).cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    x = torch.randn(32768, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.cuda.current_stream().synchronize()


if __name__ == "__main__":
    train()
