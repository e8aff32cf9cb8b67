"""Segmentation head that widens its pyramid to full size before the pointwise projection, not after it."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

SIZE = 256


class PyramidHead(nn.Module):
    def __init__(self, channels=512, width=256, classes=32, levels=3):
        super().__init__()
        self.project = nn.ModuleList(nn.Conv2d(channels, width, 1) for _ in range(levels))
        self.fuse = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.classify = nn.Conv2d(width, classes, 1)

    def enlarge(self, x):
        return F.interpolate(x, size=(SIZE, SIZE), mode="bilinear", align_corners=False)

    def forward(self, levels):
        total = None
        for project, level in zip(self.project, levels):
            # Both are linear and the weights of the interpolation add up to one: the order does not matter.
            if fixed():
                x = self.enlarge(project(level))
            else:
                x = project(self.enlarge(level))  # FAULT
            total = x if total is None else total.add_(x)
        return self.classify(F.relu_(self.fuse(total)))


@torch.inference_mode()
def serve():
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    head = PyramidHead().cuda().bfloat16().to(memory_format=torch.channels_last)
    levels = []
    for side in (128, 64, 32):
        level = torch.randn(8, 512, side, side, device="cuda", dtype=torch.bfloat16)
        levels.append(level.contiguous(memory_format=torch.channels_last))
    for _ in steps():
        head(levels)


if __name__ == "__main__":
    serve()
