"""Near-twin of a cache copied into a graph: only a token's states and its place are, the cache stays there."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class WindowLayer(nn.Module):
    def __init__(self, batch=32, width=4096, heads=32, window=2048):
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.cache = torch.randn(2, batch, heads, window, width // heads, device="cuda", dtype=torch.bfloat16)

    def forward(self, x, slot):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, self.cache.shape[2], -1)).permute(2, 0, 3, 1, 4)
        self.cache[0].index_copy_(2, slot, k)
        self.cache[1].index_copy_(2, slot, v)
        y = F.scaled_dot_product_attention(q, self.cache[0], self.cache[1])
        return x + self.out(y.transpose(1, 2).flatten(2))


class GraphedDecoder:
    def __init__(self, depth=4):
        self.layers = nn.ModuleList(WindowLayer() for _ in range(depth)).cuda().bfloat16()
        self.token = torch.zeros(32, 1, 4096, device="cuda", dtype=torch.bfloat16)
        self.slot = torch.zeros(1, dtype=torch.long, device="cuda")
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
        for layer in self.layers:
            x = layer(x, self.slot)
        return x

    def next(self, token, slot):
        self.token.copy_(token)
        self.slot.copy_(slot)
        self.graph.replay()
        return self.result


@torch.no_grad()
def decode():
    decoder = GraphedDecoder()
    token = torch.randn(32, 1, 4096, device="cuda", dtype=torch.bfloat16)
    slots = torch.arange(2048, device="cuda").unsqueeze(1)
    for step in steps():
        for number in range(4):
            decoder.next(token, slots[4 * step + number])


if __name__ == "__main__":
    decode()
