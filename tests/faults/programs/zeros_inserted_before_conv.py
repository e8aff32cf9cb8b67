"""Vocoder: upsampling inserts zeros between samples, then convolves all of them."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Upsample(nn.Module):
    def __init__(self, inputs, outputs, stride=8, taps=16):
        super().__init__()
        self.stride, self.taps = stride, taps
        weight = torch.randn(inputs, outputs, taps) * (inputs * taps) ** -0.5
        self.register_buffer("weight", weight)
        self.register_buffer("flipped", weight.transpose(0, 1).flip(2).contiguous())

    def stuff(self, x):
        batch, channels, length = x.shape
        wide = torch.zeros(batch, channels, length * self.stride, device=x.device, dtype=x.dtype)
        wide[:, :, :: self.stride] = x
        return wide

    def forward(self, x):
        margin = (self.taps - self.stride) // 2
        if fixed():
            return F.conv_transpose1d(x, self.weight, stride=self.stride, padding=margin)
        y = F.conv1d(self.stuff(x), self.flipped, padding=self.taps - 1 - margin)  # FAULT
        return y[:, :, : x.shape[2] * self.stride]


class Vocoder(nn.Module):
    def __init__(self, mels=80):
        super().__init__()
        self.enter = nn.Conv1d(mels, 512, 7, padding=3)
        self.up1, self.up2 = Upsample(512, 256), Upsample(256, 128)
        self.leave = nn.Conv1d(128, 1, 7, padding=3)

    def forward(self, mel):
        x = F.leaky_relu(self.enter(mel), 0.1)
        x = F.leaky_relu(self.up1(x), 0.1)
        x = F.leaky_relu(self.up2(x), 0.1)
        return torch.tanh(self.leave(x))


@torch.inference_mode()
def speak():
    model = Vocoder().cuda()
    mel = torch.randn(8, 80, 400, device="cuda")
    for _ in steps():
        model(mel)


if __name__ == "__main__":
    speak()
