"""Conjugate gradients that ask for the residual in each iteration."""

import torch

from recording import fixed, steps


def solve(matrix, right, tolerance=1e-12, most=10):
    x = torch.zeros_like(right)
    residual = right.clone()
    direction = residual.clone()
    size = residual @ residual
    for _ in range(most):
        if not fixed() and size.item() < tolerance:  # FAULT
            break
        image = matrix @ direction
        step = size / (direction @ image)
        x = x + step * direction
        residual = residual - step * image
        following = residual @ residual
        direction = residual + (following / size) * direction
        size = following
    return x


@torch.inference_mode()
def run():
    torch.manual_seed(0)
    half = torch.randn(6144, 6144, device="cuda")
    matrix = half @ half.T / 6144 + torch.eye(6144, device="cuda")
    right = torch.randn(6144, device="cuda")
    for _ in steps():
        solve(matrix, right)


if __name__ == "__main__":
    run()
