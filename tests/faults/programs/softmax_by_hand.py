"""A temperature softmax over the vocabulary, written with exp, sum and division."""

import torch
from torch import nn

from recording import fixed, steps


class Head(nn.Module):
    def __init__(self, width, vocabulary):
        super().__init__()
        self.proj = nn.Linear(width, vocabulary, bias=False)

    def chances(self, logits, temperature):
        logits = logits / temperature
        if fixed():
            return logits.softmax(dim=-1)
        logits = logits - logits.amax(dim=-1, keepdim=True)
        powers = torch.exp(logits)  # FAULT
        return powers / powers.sum(dim=-1, keepdim=True)

    def forward(self, x):
        return self.chances(self.proj(x), 0.7)


@torch.inference_mode()
def run():
    head = Head(512, 32768).cuda().bfloat16()
    x = torch.randn(4096, 512, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        head(x)


if __name__ == "__main__":
    run()
