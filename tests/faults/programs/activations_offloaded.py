"""Language-model training that keeps what backward needs in the host's memory, as on a smaller GPU before."""

import contextlib

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Block(nn.Module):
    def __init__(self, width=1024, heads=16):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(x)


class Model(nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.head = nn.Linear(1024, 256)

    def run_blocks(self, x):
        place = contextlib.nullcontext() if fixed() else torch.autograd.graph.save_on_cpu(pin_memory=True)
        with place:
            for block in self.blocks:
                x = block(x)  # FAULT
        return x

    def forward(self, x):
        return self.head(self.run_blocks(x))


def train():
    model = Model().cuda().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    tokens = torch.randn(4, 1024, 1024, device="cuda", dtype=torch.bfloat16)
    targets = torch.randint(0, 256, (4 * 1024,), device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        F.cross_entropy(model(tokens).flatten(0, 1).float(), targets).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
