"""A compiled speech encoder: gated convolutions along time, norms and products, fused where possible."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps

WIDTH, FRAMES, BATCH = 1024, 1024, 16


class GatedMixer(nn.Module):
    """Mixes five neighbouring frames per channel, with a gate."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.inner = nn.Linear(WIDTH, 2 * WIDTH)
        self.taps = nn.Parameter(0.2 * torch.randn(5, WIDTH))
        self.outer = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        value, gate = self.inner(self.norm(x)).chunk(2, -1)
        value = value * torch.sigmoid(gate)
        padded = F.pad(value, (0, 0, 2, 2))
        mixed = sum(self.taps[tap] * padded[:, tap : tap + FRAMES] for tap in range(5))
        return x + self.outer(F.silu(mixed))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + 0.5 * self.down(F.silu(self.up(self.norm(x))))


def build_encoder(layers=3):
    blocks = []
    for _ in range(layers):
        blocks += [FeedForward(), GatedMixer()]
    return nn.Sequential(*blocks).cuda().to(torch.bfloat16)


@torch.no_grad()
def encode():
    encoder = torch.compile(build_encoder(), fullgraph=True)
    frames = torch.randn(BATCH, FRAMES, WIDTH, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        encoder(frames)


if __name__ == "__main__":
    encode()
