"""An encoder whose batches are padded to the longest length allowed; what belongs to the padding is cut off after it."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.inputs(self.first(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.output(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.second(x))))


class Encoder(nn.Module):
    def __init__(self, longest):
        super().__init__()
        self.longest = longest
        self.table = nn.Embedding(30000, 1024)
        self.blocks = nn.Sequential(*[Block(1024, 16) for _ in range(4)])

    def forward(self, tokens):
        length = tokens.shape[1]
        if not fixed():
            tokens = F.pad(tokens, (0, self.longest - length))  # FAULT
        return self.blocks(self.table(tokens))[:, :length].mean(1)


@torch.inference_mode()
def encode():
    encoder = Encoder(1024).cuda().bfloat16()
    tokens = torch.randint(0, 30000, (16, 200), device="cuda")
    for _ in steps():
        encoder(tokens)


if __name__ == "__main__":
    encode()
