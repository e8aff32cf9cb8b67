"""A tied output layer that makes a contiguous transpose of its weight in each call."""

import torch
from torch import nn

from recording import fixed, steps


class TiedHead(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocabulary, width) * 0.02)

    def forward(self, x):
        if fixed():
            return x @ self.weight.t()
        return x @ self.weight.t().contiguous()  # FAULT


@torch.inference_mode()
def run():
    head = TiedHead(65536, 2048).cuda().bfloat16()
    x = torch.randn(64, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        head(x).argmax(dim=-1)


if __name__ == "__main__":
    run()
