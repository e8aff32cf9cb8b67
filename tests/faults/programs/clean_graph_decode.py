"""Decoding replayed as a CUDA graph: a cache of fixed size, fused attention, fused norm."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class DecodeLayer(nn.Module):
    def __init__(self, batch, width=4096, heads=32, room=2048):
        super().__init__()
        self.heads = heads
        self.norm = nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.keys = torch.zeros(batch, heads, room, width // heads, device="cuda", dtype=torch.bfloat16)
        self.values = torch.zeros_like(self.keys)

    def forward(self, x, position):
        b = x.size(0)
        q, k, v = self.qkv(self.norm(x)).view(b, 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        y = F.scaled_dot_product_attention(q, self.keys, self.values)
        return x + self.out(y.transpose(1, 2).reshape(b, 1, -1))


@torch.no_grad()
def decode():
    layers = nn.ModuleList(DecodeLayer(32) for _ in range(4)).cuda().bfloat16()
    token = torch.randn(32, 1, 4096, device="cuda", dtype=torch.bfloat16)
    position = torch.zeros(1, dtype=torch.long, device="cuda")

    def one_token():
        x = token
        for layer in layers:
            x = layer(x, position)
        return x

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            one_token()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        one_token()
    for _ in steps(active=3):
        position += 1
        graph.replay()


if __name__ == "__main__":
    decode()
