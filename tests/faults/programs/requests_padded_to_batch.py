"""A server pads its few requests to the largest batch it allows, and drops the rows again at the end."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Server(nn.Module):
    def __init__(self, width, largest):
        super().__init__()
        self.largest = largest
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(6))

    def forward(self, requests):
        count = requests.shape[0]
        x = requests if fixed() else F.pad(requests, (0, 0, 0, self.largest - count))  # FAULT
        for layer in self.layers:
            x = F.silu(layer(x))
        return x[:count]


@torch.inference_mode()
def serve():
    server = Server(4096, 8192).cuda().bfloat16()
    requests = torch.randn(1500, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        server(requests).float().sum()


if __name__ == "__main__":
    serve()
