"""A small decoder that hands each token to Python before it launches the next step."""

import torch
from torch import nn

from recording import fixed, steps


class Decoder(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.cell = nn.GRUCell(width, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, token, state):
        state = self.cell(self.embed(token), state)
        return self.head(state).argmax(dim=-1), state


def decode(model, length=8):
    token = torch.zeros(16, dtype=torch.long, device="cuda")
    state = torch.zeros(16, 512, device="cuda")
    words = []
    for _ in range(length):
        token, state = model(token, state)
        words.append(token if fixed() else token.tolist())  # FAULT
    return torch.stack(words).tolist() if fixed() else words


@torch.inference_mode()
def run():
    model = Decoder(8192, 512).cuda()
    for _ in steps():
        decode(model)


if __name__ == "__main__":
    run()
