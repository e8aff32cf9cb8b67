"""The tanh approximation of GELU as in old GPT-2 code, op by op."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class NewGELU(nn.Module):
    def forward(self, x):
        if fixed():
            return F.gelu(x, approximate="tanh")
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))  # FAULT
        return 0.5 * x * (1.0 + torch.tanh(inner))


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc = nn.Linear(width, 4 * width)
        self.act = NewGELU()
        self.c_proj = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.c_proj(self.act(self.c_fc(x)))


def train():
    model = MLP(1024).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x = torch.randn(32, 1024, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
