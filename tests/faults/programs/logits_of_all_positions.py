"""Prefill that computes the logits of all positions and keeps those of the last one."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class TinyLm(nn.Module):
    def __init__(self, width=1024, vocabulary=64000):
        super().__init__()
        self.mix = nn.Linear(width, width, bias=False)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, x):
        x = x + F.silu(self.mix(x))
        if fixed():
            x = x[:, -1:]
        return self.head(x)  # FAULT


@torch.inference_mode()
def prefill():
    model = TinyLm().cuda().bfloat16()
    x = torch.randn(4, 2048, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        logits = model(x)
        logits[:, -1, :].argmax(dim=-1)  # FAULT


if __name__ == "__main__":
    prefill()
