"""A table of positions that stays on the host and is moved to the GPU in each step."""

import torch
from torch import nn

from recording import fixed, steps


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        table = torch.randn(length, width)
        self.table = table.cuda() if fixed() else table

    def forward(self, x):
        return x + self.table.to(x.device)  # FAULT


@torch.inference_mode()
def run():
    model = nn.Sequential(Positions(8192, 1024), nn.LayerNorm(1024), nn.Linear(1024, 1024)).cuda()
    x = torch.randn(8192, 1024, device="cuda")
    for _ in steps():
        model(x)


if __name__ == "__main__":
    run()
