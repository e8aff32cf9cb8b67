"""Embeddings of hashed n-grams; the tables lie as [width, rows], as the output layer of an older model had them."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

ROWS, WIDTH, GRAMS = 1 << 17, 512, 4


class HashedTables(nn.Module):
    def __init__(self):
        super().__init__()
        shape = (GRAMS, ROWS, WIDTH) if fixed() else (GRAMS, WIDTH, ROWS)
        self.tables = nn.Parameter(torch.empty(shape, device="cuda", dtype=torch.bfloat16).normal_(0, 0.02))
        self.primes = (1000003, 998244353, 754974721, 167772161)

    def rows_of(self, tokens, gram):
        mixed = tokens
        for back in range(1, gram + 1):
            mixed = mixed * self.primes[gram] + tokens.roll(back)
        return mixed % ROWS

    def look_up(self, table, rows):
        if fixed():
            return F.embedding(rows, table)
        return table.index_select(1, rows).t()  # FAULT

    def forward(self, tokens):
        total = self.look_up(self.tables[0], self.rows_of(tokens, 0))
        for gram in range(1, GRAMS):
            total = total + self.look_up(self.tables[gram], self.rows_of(tokens, gram))
        return total


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = HashedTables()
        self.body = nn.Sequential(nn.Linear(WIDTH, 2048), nn.GELU(), nn.Linear(2048, WIDTH), nn.GELU())
        self.head = nn.Linear(WIDTH, 64)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens)))


@torch.no_grad()
def tag():
    tagger = Tagger().to(torch.bfloat16).cuda()
    tokens = torch.randint(0, 1 << 30, (65536,), device="cuda")
    for _ in steps():
        tagger(tokens).argmax(-1)


if __name__ == "__main__":
    tag()
