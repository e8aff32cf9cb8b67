"""Decoding with a CUDA graph: the session's whole cache is copied into the graph's own and back for every token."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

BATCH, HEADS, WINDOW, DEPTH, WIDTH = 16, 16, 2048, 4, 2048


class WindowLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x, cache, slot):
        q, k, v = self.qkv(self.norm(x)).view(BATCH, 1, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        cache[0].index_copy_(2, slot, k)
        cache[1].index_copy_(2, slot, v)
        y = F.scaled_dot_product_attention(q, cache[0], cache[1])
        return x + self.out(y.transpose(1, 2).reshape(BATCH, 1, WIDTH))


class GraphedDecoder:
    def __init__(self, session):
        self.layers = nn.ModuleList(WindowLayer() for _ in range(DEPTH)).cuda().bfloat16()
        self.token = torch.zeros(BATCH, 1, WIDTH, device="cuda", dtype=torch.bfloat16)
        self.slot = torch.zeros(1, dtype=torch.long, device="cuda")
        self.cache = session if fixed() else torch.zeros_like(session)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.forward()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.result = self.forward()

    def forward(self):
        x = self.token
        for layer, cache in zip(self.layers, self.cache):
            x = layer(x, cache, self.slot)
        return x

    def next(self, token, session, number):
        self.token.copy_(token)
        self.slot.fill_(number % WINDOW)
        if not fixed():
            self.cache.copy_(session)  # FAULT
        self.graph.replay()
        if not fixed():
            session.copy_(self.cache)
        return self.result


@torch.no_grad()
def decode():
    session = torch.randn(DEPTH, 2, BATCH, HEADS, WINDOW, WIDTH // HEADS, device="cuda", dtype=torch.bfloat16)
    decoder = GraphedDecoder(session)
    token = torch.randn(BATCH, 1, WIDTH, device="cuda", dtype=torch.bfloat16)
    for step in steps():
        for number in range(8):
            decoder.next(token, session, 8 * step + number)


if __name__ == "__main__":
    decode()
