"""A mixer whose sections are timed with torch.cuda.synchronize(), left in from an earlier measurement."""

import time

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class SectionTimer:
    def __init__(self):
        self.seconds = {}

    def __call__(self, name):
        self.name = name
        return self

    def __enter__(self):
        self.begin = time.perf_counter()

    def __exit__(self, *_):
        if not fixed():
            torch.cuda.synchronize()  # FAULT
        self.seconds[self.name] = time.perf_counter() - self.begin


class MixerBlock(nn.Module):
    def __init__(self, patches, channels, timer):
        super().__init__()
        self.token_mix = nn.Parameter(torch.randn(patches, patches) * 0.02)
        self.channel_mix = nn.Linear(channels, channels)
        self.timer = timer

    def forward(self, x):
        with self.timer("tokens"):
            x = x + F.gelu(self.token_mix @ x)
        with self.timer("channels"):
            x = x + F.gelu(self.channel_mix(x))
        return x


@torch.no_grad()
def classify():
    timer = SectionTimer()
    mixer = nn.Sequential(*[MixerBlock(256, 768, timer) for _ in range(4)]).cuda().half()
    images = torch.randn(384, 256, 768, device="cuda", dtype=torch.float16)
    for _ in steps():
        mixer(images)


if __name__ == "__main__":
    classify()
