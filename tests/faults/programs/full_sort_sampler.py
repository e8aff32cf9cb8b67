"""A sampler that sorts the whole vocabulary although it keeps 40 candidates."""

import torch
from torch import nn

from recording import fixed, steps


class Sampler(nn.Module):
    def __init__(self, keep=40, temperature=0.8):
        super().__init__()
        self.keep, self.temperature = keep, temperature

    def forward(self, logits):
        logits = logits / self.temperature
        if fixed():
            best, places = logits.topk(self.keep)
        else:
            best, places = torch.sort(logits, dim=-1, descending=True)  # FAULT
            best, places = best[:, : self.keep], places[:, : self.keep]
        picked = torch.multinomial(best.softmax(-1), 1)
        return places.gather(-1, picked)


class OutputHead(nn.Module):
    def __init__(self, width=2048, vocabulary=128256):
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.sampler = Sampler()

    def forward(self, hidden):
        return self.sampler(self.lm_head(self.norm(hidden)).float())


@torch.inference_mode()
def decode():
    head = OutputHead().cuda().bfloat16()
    hidden = torch.randn(256, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        head(hidden)


if __name__ == "__main__":
    decode()
