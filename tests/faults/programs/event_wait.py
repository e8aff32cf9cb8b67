"""Offloads activations to pinned memory on a side stream, and makes the main stream wait for each copy at once."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class OffloadedStack(nn.Module):
    def __init__(self, width=4096, depth=4, rows=4096):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(depth))
        self.side = torch.cuda.Stream()
        self.saved = [torch.empty(rows, width, dtype=torch.bfloat16, pin_memory=True) for _ in range(depth)]

    def offload(self, place, tensor):
        main = torch.cuda.current_stream()
        self.side.wait_stream(main)
        with torch.cuda.stream(self.side):
            self.saved[place].copy_(tensor, non_blocking=True)
        tensor.record_stream(self.side)
        if not fixed():
            main.wait_stream(self.side)  # FAULT

    def forward(self, x):
        for place, layer in enumerate(self.layers):
            x = F.relu(layer(x))
            x = F.relu(layer(x))
            x = F.relu(layer(x))
            self.offload(place, x)
        torch.cuda.current_stream().wait_stream(self.side)
        return x


@torch.no_grad()
def forward_pass():
    model = OffloadedStack().cuda().bfloat16()
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model(x)


if __name__ == "__main__":
    forward_pass()
