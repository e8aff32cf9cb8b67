"""Feature batches that are pinned anew in each step, with a size that changes, before they are copied."""

import torch
from torch import nn

from recording import fixed, steps

SIZES = [6000, 6100, 6200, 6300, 6400]


def upload(batch, staging):
    if fixed():
        staging[: len(batch)].copy_(batch)
        return staging[: len(batch)].to("cuda", non_blocking=True)
    keep.append(batch.pin_memory())  # FAULT
    return keep[-1].to("cuda", non_blocking=True)


keep = []


@torch.inference_mode()
def run():
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    data = torch.randn(6400, 256)
    staging = torch.empty(6400, 256, pin_memory=True)
    for step in steps():
        model(upload(data[: SIZES[step % len(SIZES)]], staging))


if __name__ == "__main__":
    run()
    keep.clear()
