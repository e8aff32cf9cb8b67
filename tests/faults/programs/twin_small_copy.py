"""Near-twin of copies in turns: one stream, a small copy in, a large computation."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Simulator(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@torch.inference_mode()
def simulate():
    model = Simulator().cuda().bfloat16()
    state = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
    control = torch.randn(1, 4096, dtype=torch.bfloat16).pin_memory()
    for _ in steps(active=3):
        model(state + control.to("cuda", non_blocking=True))


if __name__ == "__main__":
    simulate()
