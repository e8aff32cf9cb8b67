"""A residual conv net trained in NCHW with autocast: cuDNN transposes around each convolution."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class ResidualUnit(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)

    def forward(self, x):
        y = F.relu(self.conv1(x))  # FAULT
        return F.relu(x + self.conv2(y))


class ResNetStage(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 128, 3, stride=2, padding=1)
        self.units = nn.Sequential(ResidualUnit(128))
        self.fc = nn.Linear(128, 100)

    def forward(self, images):
        return self.fc(self.units(self.stem(images)).mean((2, 3)))


def train():
    layout = torch.channels_last if fixed() else torch.contiguous_format
    model = ResNetStage().cuda().to(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
    images = torch.randn(256, 3, 128, 128, device="cuda").to(memory_format=layout)
    labels = torch.randint(0, 100, (256,), device="cuda")
    for _ in steps():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
