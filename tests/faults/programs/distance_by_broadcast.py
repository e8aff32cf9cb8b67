"""Pairwise distances from a broadcast difference: a tensor of points x points x features."""

import torch

from recording import fixed, steps


def distances(points, centres):
    if fixed():
        return torch.cdist(points, centres)
    difference = points[:, None, :] - centres[None, :, :]
    return difference.pow(2).sum(dim=-1).sqrt()  # FAULT


@torch.inference_mode()
def run():
    points = torch.randn(8192, 64, device="cuda")
    centres = torch.randn(512, 64, device="cuda")
    for _ in steps():
        distances(points, centres).argmin(dim=-1)


if __name__ == "__main__":
    run()
