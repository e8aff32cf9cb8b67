"""Language-model training; the loss takes logits as [batch, classes, places] as the manual has it."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

VOCABULARY, WIDTH, BATCH, LENGTH = 32000, 1024, 8, 1024


class Body(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH) for _ in range(layers))
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(layers))

    def forward(self, tokens):
        x = self.embed(tokens)
        for norm, layer in zip(self.norms, self.layers):
            x = x + F.silu(layer(norm(x)))
        return x


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Body()
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def token_loss(self, logits, targets):
        if fixed():
            return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return F.cross_entropy(logits.transpose(1, 2), targets)  # FAULT

    def forward(self, tokens, targets):
        return self.token_loss(self.head(self.body(tokens)), targets)


def train():
    model = LanguageModel().cuda().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH), device="cuda")
    targets = tokens.roll(-1, 1)
    for _ in steps():
        optimizer.zero_grad()
        model(tokens, targets).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
