"""Label smoothing written with a one-hot table over the vocabulary."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def smooth_loss(logits, labels, share=0.1):
    if fixed():
        return F.cross_entropy(logits, labels, label_smoothing=share)
    classes = logits.shape[-1]
    wanted = F.one_hot(labels, classes).float()
    wanted = wanted * (1 - share) + share / classes
    return -(wanted * F.log_softmax(logits.float(), dim=-1)).sum(-1).mean()  # FAULT


def train():
    head = nn.Linear(512, 32000, bias=False).cuda().bfloat16()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1, fused=True)
    x = torch.randn(8192, 512, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 32000, (8192,), device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        smooth_loss(head(x), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
