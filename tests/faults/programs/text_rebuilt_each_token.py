"""Streaming of generated text: after each token every client gets the new part of its text."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

VOCABULARY, WIDTH, CLIENTS = 32000, 2048, 96


class Decoder(nn.Module):
    def __init__(self, layers=6):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(layers))
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH) for _ in range(layers))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for norm, layer in zip(self.norms, self.layers):
            x = x + F.silu(layer(norm(x)))
        return self.head(x).argmax(-1)


class Stream:
    """The text of one client."""

    def __init__(self, pieces, start):
        self.pieces = pieces
        self.ids = list(start)
        self.text = self.decode(self.ids)

    def decode(self, ids):
        return "".join([self.pieces[number] for number in ids]).replace("\u2581", " ")

    def push_token(self, token):
        self.ids.append(token)
        if fixed():
            new = self.pieces[token].replace("\u2581", " ")
            self.text += new
            return new
        text = self.decode(self.ids)  # FAULT
        new, self.text = text[len(self.text) :], text
        return new


@torch.no_grad()
def generate():
    model = Decoder().cuda().to(torch.bfloat16)
    pieces = [("\u2581" if number % 3 else "") + f"w{number}" for number in range(VOCABULARY)]
    streams = [Stream(pieces, range(client, client + 700)) for client in range(CLIENTS)]
    tokens = torch.arange(CLIENTS, device="cuda")
    graph = torch.cuda.CUDAGraph()
    model(tokens)
    with torch.cuda.graph(graph):
        tokens.copy_(model(tokens))
    for _ in steps():
        for _ in range(2):
            graph.replay()
            for stream, token in zip(streams, tokens.tolist()):
                stream.push_token(token)


if __name__ == "__main__":
    generate()
