"""A recurrent cell written with small ops on a small batch: the launches take longer than the kernels."""

import torch
from torch import nn

from recording import fixed, steps


class GatedCell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inward = nn.Linear(width, 2 * width)
        self.back = nn.Linear(width, 2 * width)

    def forward(self, x, state):  # FAULT
        gate, candidate = (self.inward(x) + self.back(state)).chunk(2, -1)
        gate = torch.sigmoid(gate)
        return gate * state + (1 - gate) * torch.tanh(candidate)


class Recurrent(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.cell = GatedCell(width)

    def forward(self, frames):
        state = torch.zeros_like(frames[0])
        for frame in frames:
            state = self.cell(frame, state)  # FAULT
        return state


@torch.inference_mode()
def main():
    model = Recurrent().cuda()
    frames = torch.randn(12, 8, 256, device="cuda").unbind(0)
    if fixed():
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(3):
                model(frames)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(frames)
    for _ in steps():
        if fixed():
            graph.replay()
        else:
            model(frames)


if __name__ == "__main__":
    main()
