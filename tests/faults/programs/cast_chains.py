"""Each small op of a residual unit is wrapped in .float() and .half(), "for stability"."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class SafeGate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lift = nn.Linear(width, width)
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = self.lift(x)
        if fixed():
            return x + torch.sigmoid(y) * self.gain
        y = y.float().half()  # FAULT
        y = torch.sigmoid(y.float()).half()
        y = (y.float() * self.gain.float()).half()
        return (x.float() + y.float()).half()


@torch.no_grad()
def run():
    gates = nn.Sequential(*[SafeGate(1024) for _ in range(3)]).cuda().half()
    x = torch.randn(32768, 1024, device="cuda", dtype=torch.float16)
    for _ in steps():
        gates(x)


if __name__ == "__main__":
    run()
