"""The table of rotary angles is computed in each layer, for every position and batch row."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def rope_table(positions, dim):
    rates = 10000.0 ** (-torch.arange(0, dim, 2, device=positions.device) / dim)
    angles = positions[..., None].float() * rates  # FAULT
    return torch.polar(torch.ones_like(angles), angles)


class RopeLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.dim = heads, width // heads
        self.q = nn.Linear(width, width, bias=False)

    def forward(self, x, positions, table=None):
        b, t, c = x.shape
        if table is None:
            table = rope_table(positions, self.dim)  # FAULT
        q = self.q(x).view(b, t, self.heads, self.dim // 2, 2).float()
        q = torch.view_as_real(torch.view_as_complex(q) * table[:, :, None])
        return q.reshape(b, t, c).to(x.dtype)


@torch.inference_mode()
def prefill():
    layers = nn.ModuleList(RopeLayer(256, 1) for _ in range(3)).cuda().bfloat16()
    x = torch.randn(32, 8192, 256, device="cuda", dtype=torch.bfloat16)
    positions = torch.arange(8192, device="cuda").expand(32, -1).contiguous()
    for _ in steps():
        table = rope_table(positions, 256) if fixed() else None
        y = x
        for layer in layers:
            y = layer(y, positions, table)


if __name__ == "__main__":
    prefill()
