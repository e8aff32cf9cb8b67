"""A graph network that spreads graph features over nodes with repeat_interleave: the host waits for the total."""

import torch
from torch import nn

from recording import fixed, steps


class Spread(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.of_nodes = nn.Linear(width, width)
        self.of_graphs = nn.Linear(width, width)

    def forward(self, nodes, graphs, counts):
        total = len(nodes) if fixed() else None
        wide = self.of_graphs(graphs).repeat_interleave(counts, dim=0, output_size=total)  # FAULT
        return torch.relu(self.of_nodes(nodes) + wide)


@torch.inference_mode()
def run():
    layers = nn.ModuleList(Spread(512) for _ in range(8)).cuda().bfloat16()
    counts = torch.full((512,), 32, device="cuda")
    nodes = torch.randn(512 * 32, 512, device="cuda", dtype=torch.bfloat16)
    graphs = torch.randn(512, 512, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        y = nodes
        for layer in layers:
            y = layer(y, graphs, counts)


if __name__ == "__main__":
    run()
