"""A detector's second stage that crops and resizes one box after the other."""

import torch
import torch.nn.functional as F
from torch import nn
from torchvision.ops import roi_align

from recording import fixed, steps


def crop(features, boxes):
    if fixed():
        return roi_align(features, [torch.tensor(boxes, dtype=torch.half, device="cuda")], 14)
    crops = []
    for x0, y0, x1, y1 in boxes:
        part = features[:, :, y0:y1, x0:x1]  # FAULT
        crops.append(F.interpolate(part, size=(14, 14), mode="bilinear"))
    return torch.cat(crops)


@torch.inference_mode()
def detect():
    backbone = nn.Conv2d(64, 256, 3, padding=1).cuda().half().to(memory_format=torch.channels_last)
    head = nn.Linear(256 * 196, 1024).cuda().half()
    image = torch.randn(1, 64, 256, 256, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)
    boxes = [(i, 2 * i, i + 40 + i % 9, 2 * i + 50) for i in range(100)]
    for _ in steps():
        head(crop(backbone(image), boxes).flatten(1))


if __name__ == "__main__":
    detect()
