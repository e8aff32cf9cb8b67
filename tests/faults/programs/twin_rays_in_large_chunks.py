"""Near-twin of chunks that are too small: the chunks fill the GPU."""

import torch
from torch import nn

from recording import steps


@torch.inference_mode()
def main():
    network = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 256))
    network = network.cuda().half()
    rays = torch.randn(1 << 19, 256, device="cuda", dtype=torch.half)
    for _ in steps():
        torch.cat([network(part) for part in rays.split(1 << 17)])


if __name__ == "__main__":
    main()
