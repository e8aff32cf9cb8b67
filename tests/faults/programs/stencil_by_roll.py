"""Diffusion of heat and salt on a periodic grid, explicit steps in time."""

import torch
import torch.nn.functional as F

from recording import fixed, steps

SIZE = 4096


def five_point_kernel(fields):
    kernel = torch.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]], device="cuda")
    return kernel.expand(fields, 1, 3, 3).contiguous()


def laplacian_by_shifts(u):
    north = torch.roll(u, 1, dims=-2)  # FAULT
    south = torch.roll(u, -1, dims=-2)
    west = torch.roll(u, 1, dims=-1)
    east = torch.roll(u, -1, dims=-1)
    return north + south + west + east - 4 * u


class Solver:
    def __init__(self, fields=2, rates=(0.20, 0.05)):
        self.kernel = five_point_kernel(fields)
        if fixed():
            # the rates go into the stencil
            self.kernel = self.kernel * torch.tensor(rates, device="cuda").view(-1, 1, 1, 1)
        self.rates = torch.tensor(rates, device="cuda").view(1, -1, 1, 1)
        self.fields = fields

    def change(self, u):
        if fixed():
            return F.conv2d(F.pad(u, (1, 1, 1, 1), mode="circular"), self.kernel, groups=self.fields)
        return laplacian_by_shifts(u) * self.rates

    def advance(self, u, substeps):
        for _ in range(substeps):
            u = u + self.change(u)
        return u

    def observe(self, u):
        """Means and largest values of the fields, kept on the GPU."""
        return u.mean(dim=(0, 2, 3)), u.amax(dim=(0, 2, 3))


def initial_fields():
    u = torch.zeros(1, 2, SIZE, SIZE, device="cuda")
    u[:, 0, SIZE // 4 : SIZE // 2, SIZE // 4 : SIZE // 2] = 1.0
    u[:, 1, SIZE // 2 :, :] = 0.5
    return u


@torch.inference_mode()
def simulate():
    solver = Solver()
    u = initial_fields()
    observed = []
    for _ in steps():
        u = solver.advance(u, substeps=5)
        observed.append(solver.observe(u))


if __name__ == "__main__":
    simulate()
