"""Acoustic model: one cuDNN LSTM of three layers over long utterances in half precision; nothing to repair."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class AcousticModel(nn.Module):
    def __init__(self, mels=128, hidden=1024, units=512):
        super().__init__()
        self.lstm = nn.LSTM(mels, hidden, num_layers=3)
        self.head = nn.Linear(hidden, units)

    def forward(self, frames):
        return self.head(self.lstm(frames)[0])


def train_step(model, optimizer, frames, labels):
    loss = F.cross_entropy(model(frames).flatten(0, 1), labels.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train():
    model = AcousticModel().cuda().half()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    frames = torch.randn(128, 512, 128, device="cuda", dtype=torch.half)
    labels = torch.randint(0, 512, (128, 512), device="cuda")
    for _ in steps():
        train_step(model, optimizer, frames, labels)


if __name__ == "__main__":
    train()
