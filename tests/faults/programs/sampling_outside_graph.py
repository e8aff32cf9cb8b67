"""Decoding with a CUDA graph for the model only: choosing the token is a dozen separate launches."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Model(nn.Module):
    def __init__(self, width=1024, depth=4, words=32000):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.up = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(depth))
        self.down = nn.ModuleList(nn.Linear(4 * width, width) for _ in range(depth))
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, token):
        x = self.table(token)
        for up, down in zip(self.up, self.down):
            x = x + down(F.relu(up(x)))
        return self.head(x)


class Sampler:
    def __init__(self, batch, words=32000):
        self.seen = torch.zeros(batch, words, device="cuda", dtype=torch.bool)

    def choose(self, logits, kept=50, top_p=0.9, temperature=0.8):
        logits = logits.float() / temperature  # FAULT
        punished = torch.where(logits > 0, logits / 1.2, logits * 1.2)
        logits = torch.where(self.seen, punished, logits)
        values, words = logits.topk(kept)
        probability = F.softmax(values, -1)
        before = probability.cumsum(-1) - probability
        probability = probability.masked_fill(before > top_p, 0.0)
        choice = (probability / torch.empty_like(probability).exponential_()).argmax(-1, keepdim=True)
        token = words.gather(1, choice)
        self.seen.scatter_(1, token, True)
        return token[:, 0]


class Engine:
    def __init__(self, batch=8):
        self.model, self.sampler = Model().cuda().bfloat16(), Sampler(batch)
        self.token = torch.zeros(batch, dtype=torch.long, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.captured()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.captured()

    def captured(self):
        self.logits = self.model(self.token)
        if fixed():
            self.token.copy_(self.sampler.choose(self.logits))

    def decode(self):
        self.graph.replay()
        if not fixed():
            self.token.copy_(self.sampler.choose(self.logits))


@torch.no_grad()
def generate():
    engine = Engine()
    for _ in steps():
        for _ in range(6):
            engine.decode()


if __name__ == "__main__":
    generate()
