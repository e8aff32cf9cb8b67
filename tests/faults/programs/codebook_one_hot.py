"""Codebook lookup: a one-hot matrix made by scatter_, times the codebook."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Codebook(nn.Module):
    def __init__(self, codes=8192, width=256):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(codes, width))

    def decode(self, indices):
        if fixed():
            return F.embedding(indices, self.weight)
        one_hot = torch.zeros(len(indices), len(self.weight), device=indices.device, dtype=self.weight.dtype)
        one_hot.scatter_(1, indices[:, None], 1)
        return torch.matmul(one_hot, self.weight)  # FAULT


class VectorQuantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.codebook = Codebook()
        self.out = nn.Linear(256, 1024)

    def forward(self, indices):
        return self.out(self.codebook.decode(indices))


@torch.inference_mode()
def reconstruct():
    model = VectorQuantizer().cuda().half()
    indices = torch.randint(0, 8192, (32768,), device="cuda")
    for _ in steps():
        model(indices)


if __name__ == "__main__":
    reconstruct()
