"""Mixture of experts with grouped products: tokens sorted by expert once, no synchronisation."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class GroupedExperts(nn.Module):
    def __init__(self, experts=8, width=2048, inner=4096):
        super().__init__()
        self.experts = experts
        self.gate = nn.Linear(width, experts, bias=False)
        self.w1 = nn.Parameter(torch.randn(experts, width, inner) * 0.02)
        self.w2 = nn.Parameter(torch.randn(experts, inner, width) * 0.02)

    def forward(self, x, order):
        sorted_tokens = x.index_select(0, order).view(self.experts, -1, x.size(-1))
        hidden = F.silu(torch.bmm(sorted_tokens, self.w1), inplace=True)
        return torch.bmm(hidden, self.w2)


@torch.inference_mode()
def run():
    layer = GroupedExperts().cuda().bfloat16()
    x = torch.randn(32768, 2048, device="cuda", dtype=torch.bfloat16)
    order = torch.randperm(32768, device="cuda")
    for _ in steps(active=3):
        layer(x, order)


if __name__ == "__main__":
    run()
