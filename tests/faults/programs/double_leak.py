"""A spectrogram front end: a float64 filter bank from NumPy turns its products into double precision."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class MelFilter(nn.Module):
    def __init__(self, bins=2048, mels=1024):
        super().__init__()
        bank = np.abs(np.random.default_rng(0).standard_normal((bins, mels)))
        bank = torch.from_numpy(bank)
        self.register_buffer("bank", bank.float() if fixed() else bank)

    def forward(self, power):
        mel = power.to(self.bank.dtype) @ self.bank  # FAULT
        return torch.log1p(mel).float()


class SpeechEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mel = MelFilter()
        self.proj = nn.Linear(1024, 2048)
        self.out = nn.Linear(2048, 512)

    def forward(self, power):
        with torch.autocast("cuda", enabled=False):
            features = self.mel(power)
        return self.out(F.gelu(self.proj(features)))


@torch.inference_mode()
def encode():
    torch.set_float32_matmul_precision("high")
    model = SpeechEncoder().cuda()
    power = torch.rand(16384, 2048, device="cuda")
    for _ in steps():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            model(power)


if __name__ == "__main__":
    encode()
