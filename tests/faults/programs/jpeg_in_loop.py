"""Images are decoded and resized on the host, one after the other, between the steps of a classifier."""

import torch
import torchvision.io as io
import torchvision.transforms.v2.functional as T
from torch import nn

from recording import fixed, steps


def load(files):
    images = []
    for data in files:
        image = io.decode_jpeg(data)  # FAULT
        images.append(T.resize(image, [224, 224]))
    return torch.stack(images)


@torch.inference_mode()
def classify():
    pictures = [torch.randint(0, 256, (3, 24, 24), dtype=torch.uint8) for _ in range(16)]
    files = [io.encode_jpeg(T.resize(picture, [480, 640])) for picture in pictures]
    model = nn.Sequential(nn.Conv2d(3, 64, 7, 4), nn.ReLU(), nn.Conv2d(64, 128, 3, 2), nn.ReLU()).cuda().half()
    model = model.to(memory_format=torch.channels_last)
    kept = load(files).pin_memory()
    for _ in steps(timed=10):
        batch = kept if fixed() else load(files)
        batch = batch.cuda(non_blocking=True).half().contiguous(memory_format=torch.channels_last)
        model(batch)


if __name__ == "__main__":
    classify()
