"""A switch layer that collects each expert's tokens with a boolean index."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class SwitchLayer(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.up = nn.Parameter(torch.randn(experts, width, 2 * width) * 0.02)
        self.down = nn.Parameter(torch.randn(experts, 2 * width, width) * 0.02)
        self.experts = experts

    def expert(self, number, tokens):
        return F.silu(tokens @ self.up[number]) @ self.down[number]

    def forward(self, x, choice):
        out = torch.empty_like(x)
        if fixed():
            order = choice.argsort()
            parts = [self.expert(n, part) for n, part in enumerate(x[order].chunk(self.experts))]
            out[order] = torch.cat(parts)
            return out
        for number in range(self.experts):
            mine = choice == number
            out[mine] = self.expert(number, x[mine])  # FAULT
        return out


@torch.inference_mode()
def run():
    torch.manual_seed(0)
    layers = nn.ModuleList(SwitchLayer(2048, 4) for _ in range(1)).cuda().bfloat16()
    x = torch.randn(32768, 2048, device="cuda", dtype=torch.bfloat16)
    choice = torch.randperm(32768, device="cuda") % 4
    for _ in steps():
        y = x
        for layer in layers:
            y = y + layer(y, choice)


if __name__ == "__main__":
    run()
