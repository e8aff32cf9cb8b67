"""A server that runs the requests of a queue one by one instead of as a batch."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Scorer(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.one = nn.Linear(width, width)
        self.two = nn.Linear(width, 256)

    def forward(self, x):
        return F.normalize(self.two(F.gelu(self.one(x))), dim=-1)


def answer(model, requests):
    if fixed():
        return model(torch.stack(requests))
    return torch.stack([model(request[None])[0] for request in requests])  # FAULT


@torch.inference_mode()
def serve():
    model = Scorer().cuda().bfloat16()
    requests = [torch.randn(2048, device="cuda", dtype=torch.bfloat16) for _ in range(24)]
    for _ in steps():
        answer(model, requests)


if __name__ == "__main__":
    serve()
