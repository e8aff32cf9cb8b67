"""Beam search that reads its candidates back with .tolist() for every token."""

import torch
from torch import nn

from recording import fixed, steps


class Decoder(nn.Module):
    def __init__(self, vocabulary=8192, width=1024):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.mix = nn.Linear(width, width)
        self.logits = nn.Linear(width, vocabulary)

    def forward(self, tokens, state):
        state = torch.tanh(self.mix(self.embed(tokens) + state))
        return self.logits(state).log_softmax(-1), state


class BeamSearch:
    def __init__(self, model, beams):
        self.model, self.beams = model, beams

    def advance(self, tokens, state, scores):
        logs, state = self.model(tokens, state)
        scores, flat = (scores[:, None] + logs).flatten().topk(self.beams)
        tokens, parent = flat % logs.size(-1), flat // logs.size(-1)
        if not fixed():
            self.finished = 0 in tokens.tolist()  # FAULT
        return tokens, state[parent], scores


@torch.inference_mode()
def translate():
    model = Decoder().cuda().half()
    search = BeamSearch(model, 8)
    for _ in steps():
        tokens = torch.ones(8, dtype=torch.long, device="cuda")
        state = torch.zeros(8, 1024, dtype=torch.half, device="cuda")
        scores = torch.zeros(8, dtype=torch.half, device="cuda")
        for _ in range(6):
            tokens, state, scores = search.advance(tokens, state, scores)


if __name__ == "__main__":
    translate()
