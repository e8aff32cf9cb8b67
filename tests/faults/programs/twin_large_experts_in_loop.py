"""Near-twin of experts in a loop: four experts, each with so many tokens that its products fill the GPU."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Expert(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class DomainExperts(nn.Module):
    """The domain of a document is known beforehand: tokens come sorted by it, the counts lie on the host."""

    def __init__(self, domains=4, width=2048, inner=8192):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.experts = nn.ModuleList(Expert(width, inner) for _ in range(domains))

    def forward(self, x, counts):
        parts = self.norm(x).split(counts)
        results = [expert(part) for expert, part in zip(self.experts, parts)]
        return x + torch.cat(results)


class Trunk(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.layers = nn.ModuleList(DomainExperts() for _ in range(layers))

    def forward(self, x, counts):
        for layer in self.layers:
            x = layer(x, counts)
        return x


@torch.inference_mode()
def run():
    trunk = Trunk().cuda().bfloat16().eval()
    counts = [9216, 7168, 8192, 8192]
    tokens = torch.randn(sum(counts), 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        trunk(tokens, counts)


if __name__ == "__main__":
    run()
