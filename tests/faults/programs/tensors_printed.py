"""A debugging line writes each layer's activations as text."""

import io

import torch
from torch import nn

from recording import fixed, steps

LOG = io.StringIO()


class Noisy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        x = torch.relu(self.linear(x))
        if not fixed():
            print("activations", x, file=LOG)  # FAULT
        return x


@torch.inference_mode()
def main():
    model = nn.Sequential(*[Noisy(2048) for _ in range(4)]).cuda()
    x = torch.randn(4096, 2048, device="cuda")
    for _ in steps(timed=10):
        model(x)


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    main()
