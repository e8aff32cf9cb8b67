"""Molecular dynamics: forces are computed with create_graph=True although nothing differentiates them."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Potential(nn.Module):
    def __init__(self, hidden=512, depth=4):
        super().__init__()
        self.first = nn.Linear(3, hidden)
        self.layers = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(depth))
        self.last = nn.Linear(hidden, 1)

    def forward(self, positions):
        x = F.silu(self.first(positions))
        for layer in self.layers:
            x = F.silu(layer(x))
        return self.last(x).sum()


class Integrator:
    def __init__(self, potential, atoms=65536, dt=1e-3):
        self.potential, self.dt = potential, dt
        self.positions = torch.randn(atoms, 3, device="cuda")
        self.velocities = torch.zeros_like(self.positions)

    def forces(self):
        positions = self.positions.detach().requires_grad_()
        energy = self.potential(positions)
        (gradient,) = torch.autograd.grad(energy, positions, create_graph=not fixed())  # FAULT
        return -gradient.detach()

    def step(self):
        self.velocities.add_(self.forces(), alpha=self.dt)
        self.positions.add_(self.velocities, alpha=self.dt)


def simulate():
    integrator = Integrator(Potential().cuda().requires_grad_(False))
    for _ in steps():
        integrator.step()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    simulate()
