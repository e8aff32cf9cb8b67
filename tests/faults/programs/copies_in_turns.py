"""A prefetcher on its own stream that waits for the compute of the step before, so that nothing overlaps."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Prefetcher:
    def __init__(self, batches):
        self.batches = batches
        self.stream = torch.cuda.Stream()
        self.buffers = [torch.empty_like(batches[0], device="cuda") for _ in batches]
        self.number = 0
        self.load()

    def load(self):
        slot = self.number % len(self.batches)
        if not fixed():
            self.stream.wait_stream(torch.cuda.current_stream())  # FAULT
        with torch.cuda.stream(self.stream):
            self.buffers[slot].copy_(self.batches[slot], non_blocking=True)
        self.number += 1

    def next(self):
        torch.cuda.current_stream().wait_stream(self.stream)  # FAULT
        return self.buffers[(self.number - 1) % len(self.batches)]


class VideoEncoder(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = F.gelu(layer(x))
        return x


@torch.inference_mode()
def encode_video():
    clips = [torch.randn(16384, 2048, dtype=torch.bfloat16).pin_memory() for _ in range(3)]
    prefetcher = Prefetcher(clips)
    model = VideoEncoder().cuda().bfloat16()
    for _ in steps(active=3):
        frames = prefetcher.next()
        if fixed():
            prefetcher.load()
            model(frames)
        else:
            model(frames)
            prefetcher.load()


if __name__ == "__main__":
    encode_video()
