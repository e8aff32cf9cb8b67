"""Two branches on two streams that wait for each other after every layer, though neither needs the other's result."""

import torch
from torch import nn

from recording import fixed, steps

side = None


def forward(left, right, x):
    main = torch.cuda.current_stream()
    side.wait_stream(main)
    a = b = x
    for one, two in zip(left, right):
        a = one(a)
        if not fixed():
            side.wait_stream(main)  # FAULT
        with torch.cuda.stream(side):
            b = two(b)
        if not fixed():
            main.wait_stream(side)
    main.wait_stream(side)
    return a + b


@torch.inference_mode()
def run():
    global side
    side = torch.cuda.Stream()
    left = nn.ModuleList(nn.Conv1d(128, 128, 9, padding=4) for _ in range(6)).cuda()
    right = nn.ModuleList(nn.Conv1d(128, 128, 9, padding=4) for _ in range(6)).cuda()
    x = torch.randn(4, 128, 2048, device="cuda")
    for _ in steps():
        forward(left, right, x)


if __name__ == "__main__":
    run()
