"""A long-document encoder in which each token sees the 256 before it."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

LENGTH, WINDOW, HEADS, WIDTH = 8192, 256, 16, 1024


def full_mask():
    places = torch.arange(LENGTH, device="cuda")
    behind = places[:, None] - places
    return (behind >= 0) & (behind < WINDOW)


def block_mask():
    chunks = LENGTH // WINDOW
    places = torch.arange(WINDOW, device="cuda")
    behind = places[:, None] + WINDOW - torch.arange(2 * WINDOW, device="cuda")
    mask = ((behind >= 0) & (behind < WINDOW)).repeat(chunks, 1, 1, 1)
    mask[0, :, :, :WINDOW] = False
    return mask


class WindowAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def attend(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # FAULT

    def attend_in_blocks(self, q, k, v, mask):
        chunks = LENGTH // WINDOW

        def with_previous(x):
            x = x.view(HEADS, chunks, WINDOW, -1).transpose(0, 1)
            return torch.cat((F.pad(x, (0, 0, 0, 0, 0, 0, 1, 0))[:-1], x), 2)

        q = q.view(HEADS, chunks, WINDOW, -1).transpose(0, 1)
        mixed = F.scaled_dot_product_attention(q, with_previous(k), with_previous(v), attn_mask=mask)
        return mixed.transpose(0, 1).reshape(1, HEADS, LENGTH, -1)

    def forward(self, x, mask):
        q, k, v = self.qkv(self.norm(x)).view(1, LENGTH, 3, HEADS, -1).permute(2, 0, 3, 1, 4).contiguous()
        attend = self.attend_in_blocks if fixed() else self.attend
        mixed = attend(q, k, v, mask)
        return x + self.out(mixed.transpose(1, 2).reshape(1, LENGTH, WIDTH))


@torch.no_grad()
def encode():
    layers = nn.ModuleList(WindowAttention() for _ in range(3)).cuda().to(torch.bfloat16)
    mask = block_mask() if fixed() else full_mask()
    document = torch.randn(1, LENGTH, WIDTH, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        x = document
        for layer in layers:
            x = layer(x, mask)


if __name__ == "__main__":
    encode()
