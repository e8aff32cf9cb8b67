"""Inference recorded from its very first step: libraries and kernels are loaded inside the recording."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Tower(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.project = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.conv = nn.Conv1d(width, width, 3, padding=1, groups=8)

    def forward(self, x):
        x = self.norm(F.gelu(self.project(x)))
        x = self.conv(x.mT).mT
        return F.log_softmax(x, -1).topk(8).values


@torch.inference_mode()
def embed():
    tower = Tower().cuda().bfloat16()
    x = torch.randn(8, 512, 2048, device="cuda", dtype=torch.bfloat16)
    recorded = steps() if fixed() else steps(warm=0, timed=0, profiler_warmup=0)  # FAULT
    for _ in recorded:
        tower(x)


if __name__ == "__main__":
    embed()
