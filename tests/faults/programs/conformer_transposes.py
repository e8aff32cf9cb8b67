"""A speech encoder that moves between [B, C, T] and [B, T, C] around every layer."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class ConformerPart(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.point = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.ones(width, 1))

    def forward(self, x):
        if fixed():
            return self.point(x) * self.scale.T
        x = self.point(x)
        x = x.transpose(1, 2).contiguous()  # FAULT
        x = x * self.scale
        return x.transpose(1, 2).contiguous()


@torch.inference_mode()
def transcribe():
    encoder = nn.Sequential(*[ConformerPart() for _ in range(3)]).cuda().bfloat16()
    audio = torch.randn(64, 1500, 512, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        encoder(audio)
        torch.cuda.synchronize()


if __name__ == "__main__":
    transcribe()
