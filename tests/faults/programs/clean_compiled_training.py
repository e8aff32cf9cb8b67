"""Training of a compiled transformer block without breaks, with a fused optimizer."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.RMSNorm(width), nn.RMSNorm(width)
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.inputs(self.first(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.second(x))))


def train():
    model = nn.Sequential(*[Block(1024, 16) for _ in range(3)]).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    run = torch.compile(model)
    x = torch.randn(8, 2048, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        run(x).float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    train()
