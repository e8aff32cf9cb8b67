"""CUDA graphs are used, one for each layer: replaying sixty of them costs what launching kernels costs."""

import torch
from torch import nn

from recording import fixed, steps


def capture(function):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(2):
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph


def replay(graphs):
    for graph in graphs:
        graph.replay()  # FAULT


@torch.inference_mode()
def serve():
    layers = [nn.Linear(256, 256).cuda().bfloat16() for _ in range(60)]
    x = torch.randn(32, 256, device="cuda", dtype=torch.bfloat16)

    def one(layer):
        return lambda: x.copy_(layer(x))

    def all_layers():
        for layer in layers:
            x.copy_(layer(x))

    graphs = [capture(all_layers)] if fixed() else [capture(one(layer)) for layer in layers]
    for _ in steps(active=3):
        replay(graphs)


if __name__ == "__main__":
    serve()
