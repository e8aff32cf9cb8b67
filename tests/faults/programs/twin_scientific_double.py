"""Near-twin of leaked double precision: a solver that is in double throughout, and needs it."""

import torch

from recording import steps


class Propagator:
    def __init__(self, size):
        self.operator = torch.randn(size, size, device="cuda", dtype=torch.float64) / size

    def advance(self, states):
        return torch.addmm(states, self.operator, states, alpha=0.5)


@torch.no_grad()
def simulate():
    propagator = Propagator(4096)
    states = torch.randn(4096, 4096, device="cuda", dtype=torch.float64)
    for _ in steps(timed=10):
        propagator.advance(propagator.advance(states))


if __name__ == "__main__":
    simulate()
