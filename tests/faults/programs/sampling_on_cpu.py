"""Decoding that copies the logits to the host and picks the next token there."""

import torch
from torch import nn

from recording import fixed, steps


class Decoder(nn.Module):
    def __init__(self, width=2048, vocabulary=64000):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(6)])
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        return self.head(self.layers(self.table(ids)))


def pick(logits):
    if not fixed():
        logits = logits.cpu()  # FAULT
    values, choices = logits.float().topk(50, dim=-1)
    drawn = torch.multinomial((values / 0.8).softmax(dim=-1), 1)
    return choices.gather(1, drawn).flatten().cuda()


@torch.inference_mode()
def decode():
    model = Decoder().cuda().bfloat16()
    ids = torch.zeros(32, dtype=torch.long, device="cuda")
    for _ in steps(active=3):
        ids = pick(model(ids))


if __name__ == "__main__":
    decode()
