"""Near-twin of a wait in a loop: one number is read at the end of a long graph, to decide whether to stop."""

import torch
from torch import nn

from recording import steps


@torch.inference_mode()
def serve():
    model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(16)]).cuda().bfloat16()
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        model(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = model(x).float().mean()
    for _ in steps(active=3):
        graph.replay()
        if result.item() > 1e9:
            break


if __name__ == "__main__":
    serve()
