"""A server of a ranking model with CUDA graphs; requests come in batches of any size."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

WIDTH, BUCKETS = 1024, (16, 32, 48, 64)


class Ranker(nn.Module):
    def __init__(self, layers=12):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(layers))
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, x):
        for norm, layer in zip(self.norms, self.layers):
            x = x + F.gelu(layer(norm(x)))
        return self.score(x)


class Captured:
    def __init__(self, model, size):
        self.inputs = torch.zeros(size, WIDTH, device="cuda", dtype=torch.bfloat16)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.outputs = model(self.inputs)

    def __call__(self, requests):
        self.inputs[: len(requests)].copy_(requests)
        self.graph.replay()
        return self.outputs[: len(requests)].clone()


class Server:
    def __init__(self, model):
        self.model = model
        self.graphs = {}

    def graph_for(self, count):
        if fixed():
            size = next(size for size in BUCKETS if size >= count)
        else:
            size = count
        if size not in self.graphs:
            self.graphs[size] = Captured(self.model, size)  # FAULT
        return self.graphs[size]

    def rank(self, requests):
        return self.graph_for(len(requests))(requests)


@torch.no_grad()
def serve():
    model = Ranker().cuda().to(torch.bfloat16)
    model(torch.zeros(64, WIDTH, device="cuda", dtype=torch.bfloat16))
    server = Server(model)
    if fixed():
        for size in BUCKETS:
            server.graph_for(size)
    pool = torch.randn(64, WIDTH, device="cuda", dtype=torch.bfloat16)
    for step in steps():
        count = 17 + (step * 29) % 47
        for _ in range(4):
            server.rank(pool[:count])


if __name__ == "__main__":
    serve()
