"""Each layer of a ragged encoder builds its table of lengths on the GPU from a Python list."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class RaggedLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x, lengths):
        if not torch.is_tensor(lengths):
            lengths = torch.tensor(lengths, device=x.device)  # FAULT
        live = torch.arange(x.size(1), device=x.device)[None, :] < lengths[:, None]
        return F.relu(self.linear(x)) * live[..., None]


@torch.inference_mode()
def encode():
    layers = nn.ModuleList(RaggedLayer(1024) for _ in range(6)).cuda().half()
    x = torch.randn(64, 128, 1024, device="cuda", dtype=torch.half)
    lengths = [128 - (i % 50) for i in range(64)]
    if fixed():
        lengths = torch.tensor(lengths, device="cuda")
    for _ in steps():
        y = x
        for layer in layers:
            y = layer(y, lengths)


if __name__ == "__main__":
    encode()
