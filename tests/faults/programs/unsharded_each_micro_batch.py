"""Weights are kept in one flat FP32 buffer; their BF16 copy is made again for every micro-batch."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Flat:
    def __init__(self, shapes):
        self.shapes = shapes
        self.master = torch.randn(sum(a * b for a, b in shapes), device="cuda") * 0.02

    def gather(self):
        full = self.master.to(torch.bfloat16)  # FAULT
        parts = full.split([a * b for a, b in self.shapes])
        return [part.view(shape) for part, shape in zip(parts, self.shapes)]


@torch.inference_mode()
def evaluate():
    flat = Flat([(4096, 4096)] * 6)
    batches = torch.randn(8, 512, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        weights = flat.gather()
        for i, batch in enumerate(batches):
            if i and not fixed():
                weights = flat.gather()
            for weight in weights:
                batch = torch.relu(F.linear(batch, weight))


if __name__ == "__main__":
    evaluate()
