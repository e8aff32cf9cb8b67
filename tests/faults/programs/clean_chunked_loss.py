"""Language-model training whose loss goes over the tokens in large chunks, so that the logits never stand whole."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps

VOCABULARY, WIDTH, TOKENS, CHUNK = 32000, 2048, 16384, 4096


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class ChunkedLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def backward_in_chunks(self, hidden, targets):
        """Leaves the head's gradient in place and gives the loss and the gradient of the hidden states."""
        gradient = torch.empty_like(hidden)
        total = torch.zeros((), device="cuda")
        for start in range(0, TOKENS, CHUNK):
            part = hidden[start : start + CHUNK].detach().requires_grad_()
            loss = F.cross_entropy(self.head(part), targets[start : start + CHUNK], reduction="sum") / TOKENS
            loss.backward()
            gradient[start : start + CHUNK] = part.grad
            total += loss.detach()
        return total, gradient


def train():
    body = nn.Sequential(*[Block() for _ in range(2)]).cuda().to(torch.bfloat16)
    criterion = ChunkedLoss().cuda().to(torch.bfloat16)
    optimizer = torch.optim.AdamW([*body.parameters(), *criterion.parameters()], lr=1e-4, fused=True)
    tokens = torch.randn(TOKENS, WIDTH, device="cuda", dtype=torch.bfloat16)
    targets = torch.randint(0, VOCABULARY, (TOKENS,), device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        hidden = body(tokens)
        _, gradient = criterion.backward_in_chunks(hidden, targets)
        hidden.backward(gradient)
        optimizer.step()


if __name__ == "__main__":
    train()
