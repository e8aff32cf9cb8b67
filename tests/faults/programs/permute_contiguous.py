"""An axial network that makes its tensor contiguous again after every permute."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class AxialBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rows = nn.Linear(width, width, bias=False)
        self.columns = nn.Linear(width, width, bias=False)

    def forward(self, grid):
        if fixed():
            return F.relu(self.columns(F.relu(self.rows(grid))))
        grid = grid.permute(0, 2, 1, 3).contiguous()  # FAULT
        grid = F.relu(self.rows(grid))
        grid = grid.permute(0, 2, 1, 3).contiguous()
        return F.relu(self.columns(grid))


@torch.inference_mode()
def segment():
    blocks = nn.Sequential(*[AxialBlock(512) for _ in range(4)]).cuda().bfloat16()
    grid = torch.randn(8, 128, 128, 512, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        blocks(grid)


if __name__ == "__main__":
    segment()
