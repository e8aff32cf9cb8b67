"""Requests are parsed from JSON between the batches."""

import json

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Ranker(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.a = nn.Linear(width, width)
        self.b = nn.Linear(width, 1)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


class Requests:
    def __init__(self):
        self.body = json.dumps({"items": [{"id": i, "price": i * 0.5} for i in range(8000)]})
        self.parsed = json.loads(self.body)

    def read(self):
        if fixed():
            return self.parsed
        return json.loads(self.body)  # FAULT


@torch.inference_mode()
def serve():
    requests = Requests()
    model = Ranker().cuda().half()
    x = torch.randn(16384, 1024, device="cuda", dtype=torch.half)
    for _ in steps():
        items = requests.read()["items"]
        model(x)[: len(items)].softmax(0)


if __name__ == "__main__":
    serve()
