"""Messages in a graph with few edges are summed by a product with a dense matrix of zeros and ones."""

import torch
from torch import nn

from recording import fixed, steps


def sum_messages(x, source, target):
    nodes = x.shape[0]
    if fixed():
        return torch.zeros_like(x).index_add_(0, target, x[source])
    adjacency = torch.zeros(nodes, nodes, device=x.device, dtype=x.dtype)
    adjacency[target, source] = 1  # FAULT
    return adjacency @ x


@torch.inference_mode()
def embed():
    source = torch.randint(0, 12000, (60000,), device="cuda")
    target = torch.randint(0, 12000, (60000,), device="cuda")
    layers = nn.ModuleList(nn.Linear(256, 256) for _ in range(3)).cuda().bfloat16()
    x = torch.randn(12000, 256, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        hidden = x
        for layer in layers:
            hidden = torch.relu(layer(sum_messages(hidden, source, target)))


if __name__ == "__main__":
    embed()
