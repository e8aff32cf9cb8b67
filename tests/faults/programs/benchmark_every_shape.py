"""Images of ever new sizes with cudnn.benchmark: the library tries its algorithms for each of them."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(16, 64, 3, padding=1)
        self.second = nn.Conv2d(64, 64, 3, padding=1)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))))  # FAULT


@torch.inference_mode()
def detect():
    torch.backends.cudnn.benchmark = not fixed()  # FAULT
    model = Backbone().cuda().bfloat16().to(memory_format=torch.channels_last)
    for step in steps():
        images = torch.randn(8, 16, 256, 256 + 8 * (step % 64), device="cuda", dtype=torch.bfloat16)
        model(images.to(memory_format=torch.channels_last))


if __name__ == "__main__":
    detect()
