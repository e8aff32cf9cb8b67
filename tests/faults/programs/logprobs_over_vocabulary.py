"""The log-probability of one token is taken from a softmax over the vocabulary in FP32, written out as a whole."""

import torch
from torch import nn

from recording import fixed, steps


def log_probability(logits, tokens):
    chosen = tokens.unsqueeze(-1)
    if fixed():
        return logits.gather(-1, chosen).squeeze(-1).float() - logits.logsumexp(-1).float()
    whole = logits.float().log_softmax(-1)  # FAULT
    return whole.gather(-1, chosen).squeeze(-1)


@torch.inference_mode()
def score():
    head = nn.Linear(1024, 64000, bias=False).cuda().bfloat16()
    hidden = torch.randn(4, 1024, 1024, device="cuda", dtype=torch.bfloat16)
    tokens = torch.randint(0, 64000, (4, 1024), device="cuda")
    for _ in steps(active=3):
        log_probability(head(hidden), tokens).sum()


if __name__ == "__main__":
    score()
