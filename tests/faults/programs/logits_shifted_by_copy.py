"""Language-model loss: the logits are shifted by one position with a copy of the whole tensor."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class LanguageModel(nn.Module):
    def __init__(self, words=65536, width=512):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.table(tokens)
        return self.head(x + self.down(F.gelu(self.up(x))))


def next_token_loss(logits, tokens):
    if fixed():
        labels = F.pad(tokens[:, 1:], (0, 1), value=-100)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())
    shifted = logits[:, :-1].contiguous()  # FAULT
    return F.cross_entropy(shifted.flatten(0, 1), tokens[:, 1:].flatten())


def train():
    model = LanguageModel().cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    tokens = torch.randint(0, 65536, (8, 1024), device="cuda")
    for _ in steps():
        loss = next_token_loss(model(tokens), tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
