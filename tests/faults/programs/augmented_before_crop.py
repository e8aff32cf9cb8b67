"""Augmentation of images on the GPU: colours, noise and gamma, and a crop that the network sees."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

SIZE, CROP = 896, 256


class Augment:
    def __init__(self):
        self.mean = torch.tensor([0.485, 0.456, 0.406], device="cuda").view(3, 1, 1)
        self.deviation = torch.tensor([0.229, 0.224, 0.225], device="cuda").view(3, 1, 1)

    def crop(self, images, top, left):
        return images[:, :, top : top + CROP, left : left + CROP]

    def colours(self, images):
        brightness = torch.empty(len(images), 1, 1, 1, device="cuda").uniform_(0.8, 1.2)
        images = images.float() / 255 * brightness
        images = images.clamp(1e-3, 1).pow(0.9)
        images = images + 0.02 * torch.randn_like(images)
        return (images - self.mean) / self.deviation

    def prepare(self, images, top, left):
        if fixed():
            return self.colours(self.crop(images, top, left))
        return self.crop(self.colours(images), top, left)  # FAULT


class Network(nn.Module):
    def __init__(self, channels=96):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 8, stride=8)
        body = []
        for _ in range(4):
            body += [nn.Conv2d(channels, channels, 3, padding=1), nn.GELU()]
        self.body = nn.Sequential(*body)
        self.head = nn.Linear(channels, 100)

    def forward(self, images):
        return self.head(self.body(self.stem(images)).mean((2, 3)))


def train():
    network = Network().cuda().to(torch.bfloat16).to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, fused=True)
    augment = Augment()
    images = torch.randint(0, 256, (48, 3, SIZE, SIZE), dtype=torch.uint8, device="cuda")
    labels = torch.randint(0, 100, (48,), device="cuda")
    for step in steps():
        seen = augment.prepare(images, 8 * (step % 40), 8 * (step % 30))
        seen = seen.to(torch.bfloat16, memory_format=torch.channels_last)
        optimizer.zero_grad()
        F.cross_entropy(network(seen).float(), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
