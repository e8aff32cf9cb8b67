"""Image training whose DataLoader augments in the main process (num_workers=0)."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

from recording import fixed, steps


class Photos(Dataset):
    def __init__(self):
        self.pixels = np.random.default_rng(0).random((3, 128, 128), dtype=np.float32)

    def __len__(self):
        return 100_000

    def __getitem__(self, index):  # FAULT
        image = np.roll(self.pixels, index % 17, axis=2)
        for power in (0.9, 1.1, 0.8, 1.2, 0.7, 1.3):
            image = np.power(image, power)
        return torch.from_numpy(np.tanh(image)), index % 10


class SmallConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 7, stride=4, padding=3)
        self.body = nn.Conv2d(64, 128, 3, stride=2, padding=1)
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.body(F.relu(self.stem(x))))
        return self.head(x.mean((2, 3)))


def train():
    model = SmallConvNet().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    if fixed():
        loader = DataLoader(Photos(), batch_size=4, num_workers=12, pin_memory=True, prefetch_factor=8)
    else:
        loader = DataLoader(Photos(), batch_size=4, num_workers=0, pin_memory=True)
    for _, (images, labels) in zip(steps(), loader):  # FAULT
        images = images.to("cuda", non_blocking=True, memory_format=torch.channels_last)
        labels = labels.to("cuda", non_blocking=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
