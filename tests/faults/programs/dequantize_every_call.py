"""An 8-bit linear layer that rebuilds its whole weight in bf16 in every call."""

import torch
from torch import nn

from recording import fixed, steps


class Int8Linear(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 127, (width, width), dtype=torch.int8, device="cuda"))
        self.register_buffer("scale", torch.rand(width, 1, device="cuda", dtype=torch.bfloat16) * 1e-3)
        self.dense = None

    def dequantized(self):
        return self.weight.to(torch.bfloat16) * self.scale  # FAULT

    def forward(self, x):
        if fixed():
            if self.dense is None:
                self.dense = self.dequantized()
            return x @ self.dense.T
        return x @ self.dequantized().T  # FAULT


@torch.inference_mode()
def decode():
    layers = nn.ModuleList(Int8Linear(8192) for _ in range(4))
    x = torch.randn(64, 8192, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        y = x
        for layer in layers:
            y = layer(y)


if __name__ == "__main__":
    decode()
