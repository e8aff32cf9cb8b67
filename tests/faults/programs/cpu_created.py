"""Diffusion training that draws its noise on the CPU and moves it to the GPU in each step."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Denoiser(nn.Module):
    def __init__(self, channels=64):
        super().__init__()
        self.enter = nn.Conv2d(4, channels, 3, padding=1)
        self.leave = nn.Conv2d(channels, 4, 3, padding=1)

    def forward(self, x):
        return self.leave(F.silu(self.enter(x)))


def add_noise(latents, level):
    if fixed():
        noise = torch.randn(latents.shape, device=latents.device, dtype=latents.dtype)
    else:
        noise = torch.randn(latents.shape).to(latents.device, latents.dtype)  # FAULT
    return latents * (1 - level) + noise * level, noise


def train():
    model = Denoiser().cuda().to(torch.bfloat16, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    latents = torch.randn(32, 4, 96, 96, device="cuda", dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    for _ in steps():
        noisy, noise = add_noise(latents, 0.3)
        loss = F.mse_loss(model(noisy), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
