"""Fine-tuning of a new head on a pretrained vision backbone whose weights stay as they are."""

import contextlib

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Block(nn.Module):
    def __init__(self, width=768, heads=12):
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
        mixed = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(x)


class FineTuner(nn.Module):
    def __init__(self, layers=6, classes=100):
        super().__init__()
        self.backbone = nn.Sequential(*[Block() for _ in range(layers)])
        self.head = nn.Sequential(nn.LayerNorm(768), nn.Linear(768, classes))

    def features(self, patches):
        with torch.no_grad() if fixed() else contextlib.nullcontext():
            return self.backbone(patches).mean(1)  # FAULT

    def forward(self, patches):
        return self.head(self.features(patches))


def train():
    model = FineTuner().cuda().to(torch.bfloat16)
    # Only the head is trained.
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=1e-3, fused=True)
    patches = torch.randn(64, 196, 768, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 100, (64,), device="cuda")
    for _ in steps():
        model.zero_grad()
        F.cross_entropy(model(patches).float(), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
