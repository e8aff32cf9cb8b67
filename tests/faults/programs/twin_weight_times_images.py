"""One matrix times each of sixteen large ones: the batch reads an expanded weight, and each product fills the GPU."""

import torch
from torch import nn

from recording import steps


class TokenMixer(nn.Module):
    def __init__(self, tokens=4096):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(tokens, tokens) * tokens**-0.5)

    def forward(self, x):
        return x + torch.bmm(self.weight.expand(len(x), -1, -1), x)


@torch.inference_mode()
def mix():
    torch.manual_seed(0)
    mixer = TokenMixer().cuda().bfloat16()
    x = torch.randn(16, 4096, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        mixer(x)


if __name__ == "__main__":
    mix()
