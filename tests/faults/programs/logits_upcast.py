"""The loss of a language model widens all logits to FP32 before it, and copies them once more to shift them."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.output = nn.Linear(1024, 64000, bias=False)

    def forward(self, hidden, labels):
        logits = self.output(hidden)
        if fixed():
            return F.cross_entropy(logits.view(-1, 64000), labels.roll(-1, 1).view(-1))
        logits = logits.float()  # FAULT
        shifted = logits[:, :-1].contiguous()
        return F.cross_entropy(shifted.view(-1, 64000), labels[:, 1:].reshape(-1))


def train():
    head = Head().cuda().bfloat16()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1, fused=True)
    hidden = torch.randn(8, 1024, 1024, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 64000, (8, 1024), device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        head(hidden, labels).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
