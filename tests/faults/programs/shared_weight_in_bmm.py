"""Cross network of a recommender: one weight for all examples, expanded to the batch for a batched product."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

BATCH, WIDTH = 4096, 1024


class CrossLayer(nn.Module):
    def __init__(self, width=WIDTH):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) * 0.02)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x0, x):
        if fixed():
            crossed = F.linear(x, self.weight)
        else:
            weight = self.weight.expand(x.shape[0], -1, -1)
            crossed = torch.bmm(weight, x.unsqueeze(2)).squeeze(2)  # FAULT
        return x0 * (crossed + self.bias) + x


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.cross = nn.ModuleList(CrossLayer() for _ in range(3))
        self.deep = nn.Sequential(nn.Linear(WIDTH, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
                                  nn.Linear(4096, WIDTH), nn.ReLU())
        self.score = nn.Linear(2 * WIDTH, 1)

    def forward(self, x0):
        x = x0
        for layer in self.cross:
            x = layer(x0, x)
        return self.score(torch.cat((x, self.deep(x0)), dim=1)).sigmoid()


@torch.inference_mode()
def rank():
    torch.manual_seed(0)
    model = Ranker().cuda().bfloat16()
    requests = torch.randn(BATCH, WIDTH, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model(requests)


if __name__ == "__main__":
    rank()
