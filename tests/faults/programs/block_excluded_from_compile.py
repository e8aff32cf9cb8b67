"""A compiled model whose gate is excluded from compilation: its elementwise operations run one by one."""

import torch
from torch import nn

from recording import fixed, steps


def gate(x, scale, shift):
    x = x * scale + shift
    y = torch.tanh(x) * torch.sigmoid(2 * x)  # FAULT
    return torch.where(x > 0, y + x, y).clamp(-8, 8)


used_gate = gate if fixed() else torch.compiler.disable(gate)


class Layer(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale, self.shift = nn.Parameter(torch.ones(4 * width)), nn.Parameter(torch.zeros(4 * width))

    def forward(self, x):
        hidden = used_gate(self.up(self.norm(x)), self.scale, self.shift)  # FAULT
        return x + self.down(hidden)


class Network(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@torch.inference_mode()
def serve():
    model = torch.compile(Network().cuda().bfloat16())
    x = torch.randn(8192, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model(x)


if __name__ == "__main__":
    serve()
