"""Pressure solver: a real transform in single precision, one product, its inverse; nothing to repair."""

import torch
from torch import nn

from recording import steps


class PoissonSolver(nn.Module):
    def __init__(self, size=1024):
        super().__init__()
        kx, ky = torch.fft.fftfreq(size, 1 / size), torch.fft.rfftfreq(size, 1 / size)
        k2 = kx[:, None] ** 2 + ky[None, :] ** 2
        self.register_buffer("inverse", torch.where(k2 > 0, -1 / k2, 0.0))

    def forward(self, divergence):
        return torch.fft.irfft2(torch.fft.rfft2(divergence) * self.inverse)


class Correction(nn.Module):
    def __init__(self):
        super().__init__()
        self.pressure = PoissonSolver()

    def forward(self, field, divergence):
        return field.sub_(self.pressure(divergence), alpha=0.5)


@torch.inference_mode()
def simulate():
    model = Correction().cuda()
    field, divergence = torch.randn(2, 32, 1024, 1024, device="cuda")
    for _ in steps(active=3):
        model(field, divergence)


if __name__ == "__main__":
    simulate()
