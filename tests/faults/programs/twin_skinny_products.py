"""Near-twin of odd sizes: a skinny odd product (a score per token) beside large aligned ones."""

import torch
from torch import nn

from recording import steps


class ScoredEncoder(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.a = nn.Linear(width, width, bias=False)
        self.b = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 3, bias=False)

    def forward(self, x):
        return self.score(self.b(self.a(x)))


@torch.inference_mode()
def run():
    model = ScoredEncoder().cuda().bfloat16()
    x = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        model(x)


if __name__ == "__main__":
    run()
