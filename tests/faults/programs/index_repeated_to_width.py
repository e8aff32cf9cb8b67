"""Mixture of depths: the ids of the chosen tokens are repeated over the width, a 64-bit number for each feature."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class DepthLayer(nn.Module):
    """Half of the tokens, those with the highest scores, pass through the feed-forward layer."""

    def __init__(self, width=2048, inner=2048):
        super().__init__()
        self.score = nn.Linear(width, 8, bias=False)
        self.norm = nn.RMSNorm(width)
        self.up, self.down = nn.Linear(width, inner, bias=False), nn.Linear(inner, width, bias=False)

    def feed_forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))

    def by_elements(self, x, chosen):
        index = chosen.unsqueeze(-1).repeat(1, 1, x.shape[-1])  # FAULT
        picked = torch.gather(x, 1, index)
        return x.scatter_(1, index, self.feed_forward(picked))

    def by_rows(self, x, chosen):
        batch, places, width = x.shape
        rows = (chosen + places * torch.arange(batch, device=x.device)[:, None]).flatten()
        flat = x.view(-1, width)
        flat.index_copy_(0, rows, self.feed_forward(flat.index_select(0, rows)))
        return x

    def forward(self, x):
        chosen = self.score(x).amax(-1).topk(x.shape[1] // 2, dim=1).indices
        return self.by_rows(x, chosen) if fixed() else self.by_elements(x, chosen)


class Decoder(nn.Module):
    def __init__(self, depth=4, vocabulary=32000, width=2048):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.Sequential(*[DepthLayer(width) for _ in range(depth)])

    def forward(self, tokens):
        return self.layers(self.embed(tokens)).mean(1)


@torch.inference_mode()
def embed():
    model = Decoder().cuda().bfloat16()
    tokens = torch.randint(0, 32000, (16, 4096), device="cuda")
    for _ in steps():
        model(tokens)


if __name__ == "__main__":
    embed()
