"""Near-twin of layout copies: one change of layout at the input, channels last after it."""

import torch
from torch import nn

from recording import steps


class Backbone(nn.Module):
    def __init__(self, channels=256):
        super().__init__()
        self.stem = nn.Conv2d(64, channels, 3, padding=1, bias=False)
        self.stages = nn.Sequential(*[nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(5)])

    def forward(self, images):
        return self.stages(self.stem(images.contiguous(memory_format=torch.channels_last)))


@torch.inference_mode()
def run():
    torch.backends.cudnn.benchmark = True
    model = Backbone().cuda().half().to(memory_format=torch.channels_last)
    images = torch.randn(32, 64, 112, 112, device="cuda", dtype=torch.float16)
    for _ in steps(active=3):
        model(images)


if __name__ == "__main__":
    run()
