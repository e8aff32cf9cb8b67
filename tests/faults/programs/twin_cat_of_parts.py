"""Near-twin of a cache that grows by cat: a skip connection joins two equal parts once."""

import torch
from torch import nn

from recording import steps


class SkipMerge(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.down = nn.Linear(width, width, bias=False)
        self.middle = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        down = self.down(x)
        return self.up(torch.cat([down, self.middle(down)], dim=-1))


@torch.inference_mode()
def run():
    model = SkipMerge().cuda().bfloat16()
    x = torch.randn(65536, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        model(x)


if __name__ == "__main__":
    run()
