"""A Llama-shaped feed-forward stack with its RMS norm written in single ops."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class LlamaRMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, hidden):
        if fixed():
            return F.rms_norm(hidden, self.weight.shape, self.weight, self.eps)
        dtype = hidden.dtype
        hidden = hidden.to(torch.float32)
        variance = hidden.pow(2).mean(-1, keepdim=True)  # FAULT
        hidden = hidden * torch.rsqrt(variance + self.eps)
        return self.weight * hidden.to(dtype)


class LlamaMLP(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.norm = LlamaRMSNorm(width)
        self.gate_up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return x + self.down(F.silu(self.gate_up(self.norm(x))))


@torch.inference_mode()
def prefill():
    layers = nn.Sequential(*[LlamaMLP(2048, 2048) for _ in range(4)]).cuda().bfloat16()
    x = torch.randn(4, 4096, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        layers(x)


if __name__ == "__main__":
    prefill()
