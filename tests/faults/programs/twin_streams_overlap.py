"""Two branches on two streams that meet once: the wait is needed, and both streams are busy until it."""

import torch
from torch import nn

from recording import steps


@torch.inference_mode()
def run():
    side, main = torch.cuda.Stream(), torch.cuda.current_stream()
    left = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(4)]).cuda().half()
    right = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(4)]).cuda().half()
    x = torch.randn(16384, 2048, device="cuda", dtype=torch.half)
    for _ in steps():
        side.wait_stream(main)
        with torch.cuda.stream(side):
            b = right(x)
        a = left(x)
        main.wait_stream(side)
        a + b


if __name__ == "__main__":
    run()
