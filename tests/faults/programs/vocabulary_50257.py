"""GPT-2 vocabulary of 50257: the output projection and its gradients have an odd size."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


VOCABULARY = 50304 if fixed() else 50257


class LanguageModelHead(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.wte = nn.Parameter(torch.randn(VOCABULARY, width) * 0.02)

    def forward(self, hidden):
        return hidden @ self.wte.T  # FAULT


def train():
    head = LanguageModelHead().cuda().bfloat16()
    optimizer = torch.optim.SGD(head.parameters(), lr=1e-3, fused=True)
    hidden = torch.randn(8192, 1024, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    labels = torch.randint(0, 50257, (8192,), device="cuda")
    for _ in steps(timed=10):
        loss = F.cross_entropy(head(hidden), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()


if __name__ == "__main__":
    train()
