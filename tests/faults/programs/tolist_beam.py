"""Beam search that reads its candidates back with .tolist() for every token."""

import torch
from torch import nn

from recording import fixed, steps


class Decoder(nn.Module):
    def __init__(self, vocabulary=16384, width=2048):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.mix = nn.Linear(width, width)
        self.logits = nn.Linear(width, vocabulary)

    def forward(self, tokens, state):
        state = torch.tanh(self.mix(self.embed(tokens) + state))
        return self.logits(state).log_softmax(-1), state


class BeamSearch:
    def __init__(self, model, sentences, beams):
        self.model, self.sentences, self.beams = model, sentences, beams

    def advance(self, tokens, state, scores):
        logs, state = self.model(tokens, state)
        vocabulary = logs.size(-1)
        logs += scores[:, None]
        scores, flat = logs.view(self.sentences, -1).topk(self.beams)
        tokens, parent = flat % vocabulary, flat // vocabulary
        if not fixed():
            self.finished = 0 in tokens[0].tolist()  # FAULT
        row = (parent + torch.arange(self.sentences, device="cuda")[:, None] * self.beams).flatten()
        return tokens.flatten(), state[row], scores.flatten()


@torch.inference_mode()
def translate():
    model = Decoder().cuda().half()
    search = BeamSearch(model, 512, 8)
    for _ in steps():
        tokens = torch.ones(4096, dtype=torch.long, device="cuda")
        state = torch.zeros(4096, 2048, dtype=torch.half, device="cuda")
        scores = torch.zeros(4096, dtype=torch.half, device="cuda")
        for _ in range(3):
            tokens, state, scores = search.advance(tokens, state, scores)


if __name__ == "__main__":
    translate()
