"""Constrained decoding: a grammar says which tokens may follow; the mask over the vocabulary is made for each token."""

import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

VOCABULARY, STATES, BATCH, WIDTH = 32000, 24, 32, 2048


class Grammar:
    """A finite automaton over token ids: allowed tokens per state, the next state from the token."""

    def __init__(self):
        chooser = random.Random(3)
        self.allowed = [set(chooser.sample(range(VOCABULARY), 3000)) for _ in range(STATES)]

    def advance(self, state, token):
        return (state * 5 + token) % STATES

    def table(self):
        mask = torch.full((STATES, VOCABULARY), float("-inf"))
        for state, tokens in enumerate(self.allowed):
            mask[state, torch.tensor(sorted(tokens))] = 0
        return mask.to("cuda", torch.bfloat16)


class Decoder(nn.Module):
    def __init__(self, layers=8):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(layers))
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH) for _ in range(layers))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for norm, block in zip(self.norms, self.blocks):
            x = x + F.silu(block(norm(x)))
        return self.head(x)


class ConstrainedSampler:
    def __init__(self, grammar):
        self.grammar = grammar
        self.states = [0] * BATCH
        self.table = grammar.table()
        self.states_on_gpu = torch.zeros(BATCH, dtype=torch.long, device="cuda")

    def allowed_mask(self):
        mask = np.full((BATCH, VOCABULARY), -np.inf, dtype=np.float32)
        for row, state in enumerate(self.states):
            mask[row, list(self.grammar.allowed[state])] = 0  # FAULT
        return torch.from_numpy(mask).to("cuda", torch.bfloat16)

    def sample(self, logits):
        if fixed():
            tokens = (logits + self.table[self.states_on_gpu]).argmax(-1)
            self.states_on_gpu = self.grammar.advance(self.states_on_gpu, tokens)
            return tokens
        tokens = (logits + self.allowed_mask()).argmax(-1)
        for row, token in enumerate(tokens.tolist()):
            self.states[row] = self.grammar.advance(self.states[row], token)
        return tokens


@torch.no_grad()
def serve():
    model = Decoder().cuda().to(torch.bfloat16)
    sampler = ConstrainedSampler(Grammar())
    tokens = torch.zeros(BATCH, dtype=torch.long, device="cuda")
    for _ in steps():
        for _ in range(2):
            tokens = sampler.sample(model(tokens))


if __name__ == "__main__":
    serve()
