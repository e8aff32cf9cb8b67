"""A renderer sends its rays through the network in chunks that are far too small."""

import torch
from torch import nn

from recording import fixed, steps


def render(network, rays):
    size = rays.shape[0] if fixed() else 512
    colours = []
    for begin in range(0, rays.shape[0], size):
        colours.append(network(rays[begin : begin + size]))  # FAULT
    return torch.cat(colours)


@torch.inference_mode()
def main():
    network = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))
    network = network.cuda().half()
    rays = torch.randn(32768, 64, device="cuda", dtype=torch.half)
    for _ in steps():
        render(network, rays)


if __name__ == "__main__":
    main()
