"""A tabular network trained in FP32 with TF32 left off, as is the default."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class TabularNet(nn.Module):
    def __init__(self, columns=1024, width=4096):
        super().__init__()
        self.input = nn.Linear(columns, width)
        self.hidden = nn.Linear(width, width)
        self.output = nn.Linear(width, 1)

    def forward(self, rows):
        x = F.silu(self.input(rows))
        x = F.silu(self.hidden(x))  # FAULT
        return self.output(x)


def fit():
    torch.backends.cuda.matmul.allow_tf32 = fixed()
    net = TabularNet().cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
    rows = torch.randn(8192, 1024, device="cuda")
    target = torch.randn(8192, 1, device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        F.smooth_l1_loss(net(rows), target).backward()
        optimizer.step()


if __name__ == "__main__":
    fit()
