"""Training a conv net in channels last with autocast, fused SGD and batch norm."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Bottleneck(nn.Module):
    def __init__(self, channels=256):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)), inplace=True)


def train():
    torch.backends.cudnn.benchmark = True
    model = nn.Sequential(nn.Conv2d(8, 256, 3, padding=1), Bottleneck(), Bottleneck())
    model = model.cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
    images = torch.randn(128, 8, 56, 56, device="cuda").to(memory_format=torch.channels_last)
    for _ in steps():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(images).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
