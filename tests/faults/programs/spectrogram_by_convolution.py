"""Speech recognition: spectrograms from a convolution with sines and cosines, then an encoder."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

WINDOW, HOP, BINS = 1024, 256, 513


class Spectrogram(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(WINDOW))
        angles = torch.arange(BINS)[:, None] * torch.arange(WINDOW) * (2 * math.pi / WINDOW)
        waves = torch.cat((angles.cos(), -angles.sin())) * self.window
        self.register_buffer("waves", waves[:, None])

    def power(self, sound):
        if fixed():
            spectrum = torch.stft(sound, WINDOW, HOP, window=self.window, center=False, return_complex=True)
            return spectrum.abs().square()
        parts = F.conv1d(sound[:, None], self.waves, stride=HOP)  # FAULT
        return parts[:, :BINS].square() + parts[:, BINS:].square()

    def forward(self, sound):
        return self.power(sound).add(1e-6).log()


class Recognizer(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.spectrogram = Spectrogram()
        self.inner = nn.Sequential(
            nn.Conv1d(BINS, width, 3, stride=2, padding=1), nn.GELU(), nn.Conv1d(width, width, 3, padding=1), nn.GELU()
        )
        self.head = nn.Linear(width, 48)

    def forward(self, sound):
        features = self.inner(self.spectrogram(sound).to(torch.bfloat16))
        return self.head(features.mT).argmax(-1)


@torch.no_grad()
def recognize():
    recognizer = Recognizer().cuda()
    recognizer.inner.to(torch.bfloat16)
    recognizer.head.to(torch.bfloat16)
    sound = torch.randn(32, 160000, device="cuda")
    for _ in steps():
        recognizer(sound)


if __name__ == "__main__":
    recognize()
