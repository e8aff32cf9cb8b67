"""Soft quantisation: a softmax over 8192 codes times the codebook; every code has a share, so no lookup can replace it."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps

CODES, WIDTH = 8192, 512


class SoftCodebook(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = nn.Parameter(torch.randn(CODES, WIDTH) / WIDTH**0.5)

    def forward(self, x):
        shares = F.softmax(F.linear(x, self.codes), -1)
        usage = shares.mean(0)
        return shares @ self.codes, usage


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, WIDTH))
        self.codebook = SoftCodebook()
        self.decoder = nn.Sequential(nn.Linear(WIDTH, 1024), nn.GELU(), nn.Linear(1024, 1024))

    def forward(self, x):
        coded, usage = self.codebook(self.encoder(x))
        return self.decoder(coded), usage


class Criterion(nn.Module):
    """Reconstruction, and a push to use all codes."""

    def forward(self, restored, x, usage):
        usage = usage.float()
        return F.mse_loss(restored, x) + 0.01 * (usage * (usage + 1e-9).log()).sum()


def train():
    model = Autoencoder().cuda().to(torch.bfloat16)
    criterion = Criterion()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    frames = torch.randn(16384, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        optimizer.zero_grad()
        restored, usage = model(frames)
        criterion(restored, frames, usage).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
