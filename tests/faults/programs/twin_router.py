"""Near-twin of one-hot times matrix: a router's one-hot over 8 experts counts tokens; experts are one product."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class RoutedExperts(nn.Module):
    def __init__(self, experts=8, width=2048):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.w1 = nn.Parameter(torch.randn(experts, width, 2 * width) * 0.02)
        self.w2 = nn.Parameter(torch.randn(experts, 2 * width, width) * 0.02)

    def forward(self, x):
        choice = self.gate(x).argmax(-1)
        load = F.one_hot(choice, len(self.w1)).sum(0)
        hidden = torch.bmm(x.view(len(self.w1), -1, x.size(-1)), self.w1)
        return torch.bmm(hidden, self.w2), load


@torch.inference_mode()
def run():
    model = RoutedExperts().cuda().bfloat16()
    x = torch.randn(65536, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        model(x)


if __name__ == "__main__":
    run()
