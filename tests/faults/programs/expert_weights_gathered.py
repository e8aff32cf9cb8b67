"""A mixture of experts written for single tokens: the experts' weights are gathered for each of 256 tokens."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Experts(nn.Module):
    def __init__(self, experts=8, chosen=2, width=1024, inner=2048):
        super().__init__()
        self.chosen = chosen
        self.gate = nn.Linear(width, experts, bias=False)
        self.w_in = nn.Parameter(torch.randn(experts, inner, width) * 0.02)
        self.w_out = nn.Parameter(torch.randn(experts, width, inner) * 0.02)

    def all_experts(self, x, share, choice):
        hidden = F.silu(torch.einsum("td,efd->etf", x, self.w_in))
        y = torch.einsum("etf,edf->etd", hidden, self.w_out)
        shares = torch.zeros(len(x), len(self.w_in), device=x.device, dtype=x.dtype).scatter_(1, choice, share)
        return torch.einsum("etd,te->td", y, shares)

    def chosen_experts(self, x, share, choice):
        hidden = F.silu(torch.einsum("td,tkfd->tkf", x, self.w_in[choice]))  # FAULT
        y = torch.einsum("tkf,tkdf->tkd", hidden, self.w_out[choice])
        return torch.einsum("tkd,tk->td", y, share)

    def forward(self, x):
        share, choice = F.softmax(self.gate(x), -1).topk(self.chosen, dim=-1)
        share = share / share.sum(-1, keepdim=True)
        return x + (self.all_experts if fixed() else self.chosen_experts)(x, share, choice)


class Block(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.mix = nn.Linear(width, width, bias=False)
        self.experts = Experts(width=width)

    def forward(self, x):
        return self.experts(x + self.mix(self.norm(x)))


@torch.inference_mode()
def decode():
    model = nn.Sequential(*[Block() for _ in range(4)]).cuda().bfloat16()
    tokens = torch.randn(256, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model(tokens)


if __name__ == "__main__":
    decode()
