"""Near-twin of contended atomics: index_add over as many rows as there are messages, in random order."""

import torch
from torch import nn

from recording import steps


class Spread(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.message = nn.Linear(width, width, bias=False)
        self.update = nn.Linear(width, width, bias=False)

    def forward(self, nodes, target):
        messages = self.update(self.message(nodes))
        return torch.zeros_like(nodes).index_add_(0, target, messages[: len(target)])


@torch.inference_mode()
def run():
    model = Spread().cuda().bfloat16()
    nodes = torch.randn(131072, 2048, device="cuda", dtype=torch.bfloat16)
    target = torch.randperm(131072, device="cuda")[:1024]
    for _ in steps(active=3):
        model(nodes, target)


if __name__ == "__main__":
    run()
