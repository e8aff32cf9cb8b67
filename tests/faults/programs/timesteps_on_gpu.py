"""A sampler keeps its timesteps on the GPU and asks in Python whether noise has to be added."""

import torch
from torch import nn

from recording import fixed, steps


class Denoiser(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, x):
        return self.layers(x)


def denoise(model, x, timesteps):
    for t in timesteps:
        noise = model(x)
        x = x - 0.1 * noise
        if t > 0:  # FAULT
            x = x + 0.01 * torch.randn_like(x)
    return x


@torch.inference_mode()
def sample():
    model = Denoiser().cuda().bfloat16()
    x = torch.randn(4096, 2048, device="cuda", dtype=torch.bfloat16)
    timesteps = torch.arange(7, -1, -1, device="cpu" if fixed() else "cuda")
    for _ in steps():
        denoise(model, x, timesteps)


if __name__ == "__main__":
    sample()
