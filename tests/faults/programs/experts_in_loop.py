"""Mixture of experts: one small product per expert, in a Python loop."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class ExpertBank(nn.Module):
    def __init__(self, experts=24, width=512, hidden=512):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(experts, width, hidden) * 0.02)
        self.w2 = nn.Parameter(torch.randn(experts, hidden, width) * 0.02)

    def forward(self, x):
        if fixed():
            return torch.bmm(F.silu(torch.bmm(x, self.w1)), self.w2)
        out = []
        for expert in range(len(self.w1)):
            hidden = F.silu(x[expert] @ self.w1[expert])
            out.append(hidden @ self.w2[expert])  # FAULT
        return torch.stack(out)


@torch.inference_mode()
def forward_pass():
    bank = ExpertBank().cuda().bfloat16()
    x = torch.randn(24, 64, 512, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        bank(x)


if __name__ == "__main__":
    forward_pass()
