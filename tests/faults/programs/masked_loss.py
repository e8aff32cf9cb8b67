"""A language model loss over the positions that are not padding, selected with a boolean mask."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Head(nn.Module):
    def __init__(self, width=1024, vocabulary=32768):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, hidden):
        return self.lm_head(self.norm(hidden))


def masked_loss(logits, labels):
    if fixed():
        return F.cross_entropy(logits, labels, ignore_index=-100)
    keep = labels != -100
    return F.cross_entropy(logits[keep], labels[keep])  # FAULT


def train():
    head = Head().cuda().bfloat16()
    optimizer = torch.optim.SGD(head.parameters(), lr=1e-3, fused=True)
    hidden = torch.randn(2048, 1024, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 32768, (2048,), device="cuda")
    labels[::5] = -100
    for _ in steps():
        for _ in range(2):
            masked_loss(head(hidden), labels).backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    train()
