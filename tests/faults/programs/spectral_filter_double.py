"""Spectral fluid solver: wavenumbers from NumPy are float64 and turn all fields into double precision."""

import numpy as np
import torch

from recording import fixed, steps


class SpectralSolver:
    def __init__(self, size=512, viscosity=1e-3, dt=1e-3):
        kx = torch.from_numpy(np.fft.fftfreq(size, 1 / size)).cuda()[:, None]
        ky = torch.from_numpy(np.fft.rfftfreq(size, 1 / size)).cuda()[None, :]
        k2 = kx**2 + ky**2
        self.decay = torch.exp(-viscosity * k2 * dt)
        self.inverse = torch.where(k2 > 0, 1 / k2, 0.0)
        self.kx, self.ky = kx.expand_as(k2).contiguous(), ky.expand_as(k2).contiguous()
        if fixed():
            self.decay, self.inverse = self.decay.float(), self.inverse.float()
            self.kx, self.ky = self.kx.float(), self.ky.float()
        self.dt = dt

    def transform(self, vorticity):
        return torch.fft.rfft2(vorticity) * self.decay  # FAULT

    def velocity(self, spectrum):
        stream = spectrum * self.inverse
        return torch.fft.irfft2(stream * self.ky * 1j), torch.fft.irfft2(stream * self.kx * -1j)

    def gradient(self, spectrum):
        return torch.fft.irfft2(spectrum * self.kx * 1j), torch.fft.irfft2(spectrum * self.ky * 1j)

    def step(self, vorticity):
        spectrum = self.transform(vorticity)
        u, v = self.velocity(spectrum)
        wx, wy = self.gradient(spectrum)
        advected = torch.addcmul(u * wx, v, wy)
        return torch.fft.irfft2(spectrum) - self.dt * advected


@torch.inference_mode()
def simulate():
    solver = SpectralSolver()
    start = torch.randn(32, 512, 512, device="cuda")
    for _ in steps():
        solver.step(start)


if __name__ == "__main__":
    simulate()
