"""A sampler's noise levels are NumPy doubles: the update of the image runs in double precision."""

import numpy as np
import torch
from torch import nn

from recording import fixed, steps


def step_back(image, noise, level, lower):
    derivative = (image - (image - level * noise)) / level  # FAULT
    return image + derivative * (lower - level)


@torch.inference_mode()
def sample():
    levels = np.linspace(14.6, 0.1, 6)
    if fixed():
        levels = levels.astype(np.float32)
    levels = torch.from_numpy(levels).cuda().view(-1, 1, 1, 1, 1)
    model = nn.Conv2d(16, 16, 3, padding=1).cuda().half().to(memory_format=torch.channels_last)
    image = torch.randn(32, 16, 128, 128, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)
    for _ in steps():
        x = image
        for level, lower in zip(levels[:-1], levels[1:]):
            x = step_back(x, model(x.half()), level, lower)


if __name__ == "__main__":
    sample()
