"""Mixture of experts whose router looks for each expert's tokens with torch.where: the host waits for their number."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Experts(nn.Module):
    def __init__(self, experts=8, width=1024, inner=4096):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.w1 = nn.Parameter(torch.randn(experts, width, inner) * 0.02)
        self.w2 = nn.Parameter(torch.randn(experts, inner, width) * 0.02)

    def forward(self, x):
        choice = self.gate(x).argmax(dim=-1)
        if fixed():
            rows = choice.argsort().view(len(self.w1), -1)
            hidden = F.silu(torch.bmm(x[rows], self.w1), inplace=True)
            return torch.empty_like(x).index_copy_(0, rows.flatten(), torch.bmm(hidden, self.w2).flatten(0, 1))
        out = torch.empty_like(x)
        for number in range(len(self.w1)):
            (rows,) = torch.where(choice == number)  # FAULT
            out[rows] = F.silu(x[rows] @ self.w1[number], inplace=True) @ self.w2[number]
        return out


@torch.inference_mode()
def run():
    layer = Experts().cuda().bfloat16()
    x = torch.randn(4096, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        layer(x)


if __name__ == "__main__":
    run()
