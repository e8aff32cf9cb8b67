"""Importance sampling: one running sum over a few very long rows, which keeps a handful of blocks busy."""

import torch
from torch import nn

from recording import fixed, steps


class ImportanceSampler(nn.Module):
    def __init__(self, draws=4096):
        super().__init__()
        self.draws = draws

    def cumulative(self, weights):
        if not fixed():
            return weights.cumsum(-1)  # FAULT
        parts = weights.unflatten(-1, (-1, 4096)).cumsum(-1)
        offsets = parts[..., -1].cumsum(-1) - parts[..., -1]
        return (parts + offsets[..., None]).flatten(-2)

    def forward(self, weights):
        cdf = self.cumulative(weights)
        targets = torch.rand(len(weights), self.draws, device=weights.device) * cdf[:, -1:]
        return torch.searchsorted(cdf, targets)


@torch.no_grad()
def sample():
    sampler = ImportanceSampler()
    weights = torch.rand(4, 1 << 22, device="cuda")
    for _ in steps():
        density = torch.exp(weights * 2 - 1)
        sampler(density)


if __name__ == "__main__":
    sample()
