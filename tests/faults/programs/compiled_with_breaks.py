"""A compiled model whose layers look at a number on the GPU: each look breaks the graph and waits."""

import torch
from torch import nn

from recording import fixed, steps


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.down(torch.relu(self.up(x)))
        largest = y.abs().amax()
        if fixed():
            return x + y / largest.clamp(min=1.0)
        if largest.item() > 1.0:  # FAULT
            y = y / largest
        return x + y


@torch.inference_mode()
def serve():
    model = nn.Sequential(*[Layer(1024) for _ in range(8)]).cuda().bfloat16()
    run = torch.compile(model)
    x = torch.randn(512, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        run(x)


if __name__ == "__main__":
    serve()
