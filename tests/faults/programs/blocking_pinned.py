"""Batches lie in pinned memory, but the copies block: the host launches nothing while they run."""

import torch
from torch import nn

from recording import fixed, steps


def to_device(batch):
    return {name: value.to("cuda", non_blocking=fixed()) for name, value in batch.items()}  # FAULT


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(4096, 1024, bias=False)
        self.depth = nn.Linear(4096, 1024, bias=False)

    def forward(self, image, depth):
        y = self.image(image) + self.depth(depth)
        for _ in range(12):
            y = torch.tanh(y)
        return y


@torch.inference_mode()
def run():
    model = Net().cuda().half()
    batch = {name: torch.randn(512, 4096, dtype=torch.float16).pin_memory() for name in ("image", "depth")}
    for _ in steps():
        model(**to_device(batch))


if __name__ == "__main__":
    run()
