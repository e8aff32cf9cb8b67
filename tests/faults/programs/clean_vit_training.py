"""A vision transformer block trained with autocast, fused attention and fused AdamW; the loss is logged each step."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class ViTBlock(nn.Module):
    def __init__(self, width=1280, heads=16):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


def train():
    model = ViTBlock().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x = torch.randn(256, 256, 1280, device="cuda", dtype=torch.bfloat16)
    losses = []
    for _ in steps():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


if __name__ == "__main__":
    train()
