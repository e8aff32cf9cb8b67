"""A compiled feed-forward model with CUDA graphs (mode reduce-overhead)."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Gated(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.gate = nn.Linear(width, 2 * width, bias=False)
        self.up = nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


@torch.inference_mode()
def run():
    model = nn.Sequential(Gated(), Gated()).cuda().bfloat16()
    compiled = torch.compile(model, mode="reduce-overhead")
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        torch.compiler.cudagraph_mark_step_begin()
        compiled(x)


if __name__ == "__main__":
    run()
