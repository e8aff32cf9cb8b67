"""Graph pooling: millions of edges are added into 8 rows, so that atomics collide."""

import torch
from torch import nn

from recording import fixed, steps


class SegmentPool(nn.Module):
    def __init__(self, segments):
        super().__init__()
        self.segments = segments

    def forward(self, messages, owner):
        if fixed():
            return messages.view(self.segments, -1, messages.size(-1)).sum(1)
        out = messages.new_zeros(self.segments, messages.size(-1))
        return out.index_add_(0, owner, messages)  # FAULT


class EdgeNetwork(nn.Module):
    def __init__(self, width=32, segments=8):
        super().__init__()
        self.message = nn.Linear(width, width)
        self.pool = SegmentPool(segments)

    def forward(self, edges, owner):
        return self.pool(torch.relu(self.message(edges)), owner)


@torch.no_grad()
def embed_graphs():
    torch.set_float32_matmul_precision("high")
    model = EdgeNetwork().cuda()
    edges = torch.randn(1 << 20, 32, device="cuda")
    owner = torch.arange(1 << 20, device="cuda") // ((1 << 20) // 8)
    for _ in steps():
        model(edges, owner)


if __name__ == "__main__":
    embed_graphs()
