"""Near-twin of a needless sort: the ranking metric uses the order of all documents of a query."""

import torch
from torch import nn

from recording import steps


class Ranker(nn.Module):
    def __init__(self, features=256, hidden=2048):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.out = nn.Linear(hidden, 1)

    def forward(self, documents):
        return self.out(self.layers(documents))[..., 0]


class DiscountedGain(nn.Module):
    def __init__(self, documents):
        super().__init__()
        self.register_buffer("discount", 1 / torch.log2(torch.arange(documents) + 2.0))

    def forward(self, scores, relevance):
        order = scores.sort(dim=1, descending=True).indices
        return (relevance.gather(1, order) @ self.discount).mean()


@torch.inference_mode()
def evaluate():
    model, metric = Ranker().cuda().bfloat16(), DiscountedGain(512).cuda()
    documents = torch.randn(512, 512, 256, device="cuda", dtype=torch.bfloat16)
    relevance = torch.rand(512, 512, device="cuda")
    for _ in steps():
        metric(model(documents), relevance)


if __name__ == "__main__":
    evaluate()
