"""Near-twin of cast chains: one cast where the data enters, one where it leaves."""

import torch
from torch import nn

from recording import steps


class HalfBody(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x):
        x = x.half()
        for layer in self.layers:
            x = layer(x)
        return x.float()


@torch.inference_mode()
def run():
    model = HalfBody().cuda().half()
    x = torch.randn(8192, 4096, device="cuda")
    for _ in steps(active=3):
        model(x)


if __name__ == "__main__":
    run()
