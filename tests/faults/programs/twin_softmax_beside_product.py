"""Near-twin of written-out attention: batched products, and a softmax of something else."""

import torch
from torch import nn

from recording import steps


class BilinearFusion(nn.Module):
    def __init__(self, width=1024, topics=4096):
        super().__init__()
        self.first = nn.Parameter(torch.randn(8, width, width) * 0.02)
        self.second = nn.Parameter(torch.randn(8, width, width) * 0.02)
        self.topics = nn.Linear(width, topics, bias=False)

    def forward(self, a, b):
        fused = torch.bmm(torch.bmm(a, self.first), self.second)
        prior = self.topics(b).softmax(-1)
        return fused, prior


@torch.inference_mode()
def run():
    model = BilinearFusion().cuda().bfloat16()
    a = torch.randn(8, 32768, 1024, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(4096, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        model(a, b)


if __name__ == "__main__":
    run()
