"""Near-twin of fusible chains: small ops stand in a row, but none reads what another wrote."""

import torch
from torch import nn

from recording import steps


class Statistics(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.body = nn.Linear(width, width, bias=False)
        self.tail = nn.Linear(width, width, bias=False)

    def forward(self, x, a, b, c, d):
        y = self.body(x)
        power = a.pow(2)
        centre = b.mean(-1, keepdim=True)
        inverse = torch.rsqrt(c)
        scaled = d.mul(0.5)
        return self.tail(y), power, centre, inverse, scaled


@torch.inference_mode()
def run():
    model = Statistics().cuda().bfloat16()
    x = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
    parts = [torch.rand(2048, 4096, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
    for _ in steps(active=3):
        model(x, *parts)


if __name__ == "__main__":
    run()
