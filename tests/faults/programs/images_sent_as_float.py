"""Inference on camera frames: a batch waits in pinned memory and goes to the GPU in each step."""

import torch
from torch import nn

from recording import fixed, steps

BATCH, SIZE = 256, 224


class Feed:
    """Batches of frames, ready in pinned memory."""

    def __init__(self, count=2):
        frames = [torch.randint(0, 256, (BATCH, 3, SIZE, SIZE), dtype=torch.uint8) for _ in range(count)]
        if not fixed():
            frames = [batch.float() / 255 for batch in frames]
        self.batches = [batch.pin_memory() for batch in frames]

    def upload(self, number):
        batch = self.batches[number % len(self.batches)]
        if fixed():
            return batch.to("cuda", non_blocking=True).to(torch.bfloat16).mul_(1 / 255)
        return batch.to("cuda", non_blocking=True).to(torch.bfloat16)  # FAULT


class Network(nn.Module):
    def __init__(self, channels=128, layers=3):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 8, stride=8)
        body = []
        for _ in range(layers):
            body += [nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU(True)]
        self.body = nn.Sequential(*body)
        self.head = nn.Linear(channels, 1000)

    def forward(self, images):
        images = images.contiguous(memory_format=torch.channels_last)
        return self.head(self.body(self.stem(images)).mean((2, 3)))


@torch.no_grad()
def classify():
    network = Network().cuda().to(torch.bfloat16).to(memory_format=torch.channels_last)
    feed = Feed()
    for step in steps():
        network(feed.upload(step)).argmax(-1)


if __name__ == "__main__":
    classify()
