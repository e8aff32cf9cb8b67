"""Near-twin of exposed copies: pinned batches, copied on their own stream while the step before computes."""

import torch
from torch import nn

from recording import steps


class Loader:
    def __init__(self):
        self.batches = [torch.randn(16384, 2048, dtype=torch.bfloat16).pin_memory() for _ in range(2)]
        self.stream = torch.cuda.Stream()
        self.slots = [torch.empty(16384, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(2)]
        self.free = [torch.cuda.Event(), torch.cuda.Event()]
        self.full = [torch.cuda.Event(), torch.cuda.Event()]

    def prefetch(self, number):
        slot = number % 2
        self.stream.wait_event(self.free[slot])
        with torch.cuda.stream(self.stream):
            self.slots[slot].copy_(self.batches[slot], non_blocking=True)
            self.full[slot].record()

    def take(self, number):
        torch.cuda.current_stream().wait_event(self.full[number % 2])
        return self.slots[number % 2]

    def done(self, number):
        self.free[number % 2].record()


@torch.inference_mode()
def run():
    loader = Loader()
    model = nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(10)]).cuda().bfloat16()
    loader.prefetch(0)
    for number in steps(active=3):
        loader.prefetch(number + 1)
        model(loader.take(number))
        loader.done(number)


if __name__ == "__main__":
    run()
