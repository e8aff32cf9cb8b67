"""Near-twin of a mask instead of a causal flag: a tree of drafts is verified, its mask is no triangle."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps

NODES, PAST = 64, 1984


def tree_mask():
    """A node sees the past, its ancestors and itself. Node i hangs under node (i - 1) // 2."""
    mask = torch.zeros(NODES, PAST + NODES, dtype=torch.bool)
    mask[:, :PAST] = True
    for node in range(NODES):
        ancestor = node
        while ancestor >= 0:
            mask[node, PAST + ancestor] = True
            ancestor = (ancestor - 1) // 2 if ancestor > 0 else -1
    return mask.cuda()


class TreeAttention(nn.Module):
    def __init__(self, batch, width, heads):
        super().__init__()
        self.heads = heads
        self.wqkv = nn.Linear(width, 3 * width, bias=False)
        self.wo = nn.Linear(width, width, bias=False)
        shape = (batch, heads, PAST + NODES, width // heads)
        self.keys = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
        self.values = torch.randn(shape, device="cuda", dtype=torch.bfloat16)

    def forward(self, x, mask):
        b, t, w = x.shape
        q, k, v = self.wqkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        self.keys[:, :, PAST:] = k
        self.values[:, :, PAST:] = v
        y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(b, t, w))


class Layer(nn.Module):
    def __init__(self, batch, width=4096, heads=32):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.attention = TreeAttention(batch, width, heads)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


@torch.inference_mode()
def verify():
    batch = 32
    with torch.device("cuda"):
        layers = nn.ModuleList(Layer(batch) for _ in range(3)).bfloat16()
    mask = tree_mask()
    drafts = torch.randn(batch, NODES, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        x = drafts
        for layer in layers:
            x = layer(x, mask)


if __name__ == "__main__":
    verify()
