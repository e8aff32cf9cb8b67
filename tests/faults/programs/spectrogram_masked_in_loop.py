"""SpecAugment applied utterance by utterance with slice assignments on the GPU."""

import random

import torch
from torch import nn

from recording import fixed, steps


class SpecAugment(nn.Module):
    def __init__(self, bands=20, frames=80):
        super().__init__()
        self.bands, self.frames = bands, frames

    def mask_utterances(self, spectrogram):
        _, mels, length = spectrogram.shape
        for utterance in spectrogram:
            low = random.randrange(mels - self.bands)
            utterance[low : low + random.randint(1, self.bands)] = 0.0  # FAULT
            begin = random.randrange(length - self.frames)
            utterance[:, begin : begin + random.randint(1, self.frames)] = 0.0
        return spectrogram

    def spans(self, batch, size, longest, device):
        begin = torch.rand(batch, 1, device=device) * (size - longest)
        length = torch.rand(batch, 1, device=device) * longest
        position = torch.arange(size, device=device)
        return (position >= begin) & (position < begin + length)

    def mask_batch(self, spectrogram):
        batch, mels, length = spectrogram.shape
        band = self.spans(batch, mels, self.bands, spectrogram.device)
        frame = self.spans(batch, length, self.frames, spectrogram.device)
        return spectrogram.masked_fill_(band[:, :, None] | frame[:, None, :], 0.0)

    def forward(self, spectrogram):
        return self.mask_batch(spectrogram) if fixed() else self.mask_utterances(spectrogram)


class Encoder(nn.Module):
    def __init__(self, mels=80, width=512):
        super().__init__()
        self.augment = SpecAugment()
        self.conv1 = nn.Conv1d(mels, width, 3, stride=2, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.head = nn.Linear(width, 512)

    def forward(self, spectrogram):
        x = torch.relu(self.conv1(self.augment(spectrogram)))
        x = torch.relu(self.conv2(x))
        return self.head(x.mean(-1))


def train():
    model = Encoder().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    batch = torch.randn(32, 80, 1000, device="cuda")
    target = torch.randint(0, 512, (32,), device="cuda")
    for _ in steps():
        loss = nn.functional.cross_entropy(model(batch.clone()), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
