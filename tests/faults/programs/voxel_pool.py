"""Voxel pooling: points are reduced into a handful of voxels with scatter_reduce_."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class VoxelPool(nn.Module):
    def __init__(self, voxels=32, width=16):
        super().__init__()
        self.voxels = voxels
        self.embed = nn.Linear(3, width)

    def forward(self, points, voxel):
        features = self.embed(points)
        if fixed():
            return features.view(self.voxels, -1, features.size(-1)).sum(1)
        pooled = features.new_zeros(self.voxels, features.size(-1))
        index = voxel[:, None].expand_as(features)
        return pooled.scatter_reduce_(0, index, features, "sum")  # FAULT


@torch.no_grad()
def pool():
    torch.set_float32_matmul_precision("high")
    model = VoxelPool().cuda()
    points = torch.rand(1 << 20, 3, device="cuda")
    voxel = torch.arange(1 << 20, device="cuda") * 32 // (1 << 20)
    for _ in steps():
        model(points, voxel)


if __name__ == "__main__":
    pool()
