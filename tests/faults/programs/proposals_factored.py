"""Adaptive Metropolis sampling: many chains, each with a covariance of proposals that follows what it has seen."""

import torch

from recording import fixed, steps

CHAINS, WIDTH = 256, 32


class Target:
    """A correlated Gaussian: the logarithm of its density, up to a constant."""

    def __init__(self):
        mix = torch.randn(WIDTH, WIDTH, device="cuda") / WIDTH
        self.precision = torch.eye(WIDTH, device="cuda") + mix @ mix.T

    def log_density(self, points):
        return -0.5 * ((points @ self.precision) * points).sum(-1)


class AdaptiveChains:
    def __init__(self, target, rate=0.02):
        self.target = target
        self.rate = rate
        self.points = torch.randn(CHAINS, WIDTH, device="cuda")
        self.levels = target.log_density(self.points)
        self.covariance = torch.eye(WIDTH, device="cuda").repeat(CHAINS, 1, 1)
        self.floor = 0.05 * torch.eye(WIDTH, device="cuda")

    def factor(self, covariance):
        if fixed():
            return torch.linalg.cholesky_ex(covariance).L
        return torch.linalg.cholesky(covariance)  # FAULT

    def adapt(self):
        column = self.points[:, :, None]
        self.covariance = torch.baddbmm(self.covariance, column, column.mT, beta=1 - self.rate, alpha=self.rate)
        return self.factor(self.covariance + self.floor)

    def move(self):
        noise = torch.randn(CHAINS, WIDTH, 1, device="cuda")
        proposal = torch.baddbmm(self.points[:, :, None], self.adapt(), noise, alpha=0.3).squeeze(-1)
        levels = self.target.log_density(proposal)
        accepted = torch.rand(CHAINS, device="cuda").log() < levels - self.levels
        self.points = torch.where(accepted[:, None], proposal, self.points)
        self.levels = torch.where(accepted, levels, self.levels)


@torch.no_grad()
def draw():
    torch.set_float32_matmul_precision("high")
    chains = AdaptiveChains(Target())
    mean = torch.zeros(WIDTH, device="cuda")
    for _ in steps():
        for _ in range(24):
            chains.move()
        mean += chains.points.mean(0)
    return mean


if __name__ == "__main__":
    draw()
