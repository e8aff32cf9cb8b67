"""Near-twin of FP32 products: FP32 tensors whose products use TF32."""

import torch
from torch import nn

from recording import steps


class WideNet(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.enter = nn.Linear(width, width)
        self.leave = nn.Linear(width, width)

    def forward(self, x):
        return self.leave(self.enter(x).relu_())


def fit():
    torch.set_float32_matmul_precision("high")
    net = WideNet().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, fused=True)
    x = torch.randn(16384, 4096, device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    fit()
