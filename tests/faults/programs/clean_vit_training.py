"""Vision transformer training: fused attention, bfloat16, a fused optimizer; nothing to repair."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Block(nn.Module):
    def __init__(self, width=1024, heads=16):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        b, n, width = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Classifier(nn.Module):
    def __init__(self, width=1024, depth=3, tokens=256):
        super().__init__()
        self.patch = nn.Linear(768, width)
        self.positions = nn.Parameter(torch.zeros(1, tokens, width))
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, 1024)

    def forward(self, patches):
        return self.head(self.blocks(self.patch(patches) + self.positions).mean(1))


def train():
    model = Classifier().cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    patches = torch.randn(96, 256, 768, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 1024, (96,), device="cuda")
    for _ in steps():
        loss = F.cross_entropy(model(patches), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
