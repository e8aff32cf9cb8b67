"""A segmentation net in FP32 whose convolutions may not use TF32."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Decoder(nn.Module):
    def __init__(self, channels=128):
        super().__init__()
        self.enter = nn.Conv2d(16, channels, 3, padding=1)
        self.refine = nn.Conv2d(channels, channels, 3, padding=1)
        self.out = nn.Conv2d(channels, 21, 1)

    def forward(self, x):
        x = F.relu(self.enter(x))
        return self.out(F.relu(self.refine(x)))  # FAULT


@torch.inference_mode()
def segment():
    torch.backends.cudnn.allow_tf32 = fixed()
    model = Decoder().cuda().to(memory_format=torch.channels_last)
    images = torch.randn(16, 16, 128, 128, device="cuda").to(memory_format=torch.channels_last)
    for _ in steps():
        model(images)
    torch.backends.cudnn.allow_tf32 = True


if __name__ == "__main__":
    segment()
