"""Gaussian process features: large FP32 products with torch.einsum, TF32 off."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class RandomFeatures(nn.Module):
    def __init__(self, inputs=1024, features=4096):
        super().__init__()
        self.register_buffer("frequencies", torch.randn(inputs, features))

    def forward(self, x):
        return torch.cos(torch.einsum("nd,df->nf", x, self.frequencies))  # FAULT


def gram(features):
    return features.T @ features


@torch.no_grad()
def fit():
    if fixed():
        torch.set_float32_matmul_precision("high")
    model = RandomFeatures().cuda()
    x = torch.randn(16384, 1024, device="cuda")
    for _ in steps(timed=10):
        gram(model(x)).diagonal().sum().item()


if __name__ == "__main__":
    fit()
