"""A server that asks in a sleeping loop whether the GPU is done, before it prepares the next request."""

import time

import torch
from torch import nn

from recording import fixed, steps


def finish(event):
    while not event.query():
        time.sleep(0.002)  # FAULT


@torch.inference_mode()
def serve():
    model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(6)]).cuda().bfloat16()
    x = torch.randn(2048, 4096, device="cuda", dtype=torch.bfloat16)
    event = torch.cuda.Event()
    for _ in steps(active=3):
        for _ in range(2):
            model(x)
            event.record()
            if not fixed():
                finish(event)


if __name__ == "__main__":
    serve()
