"""Near-twin of a full sort: top-k over the vocabulary behind a large product."""

import torch
from torch import nn

from recording import steps


class Head(nn.Module):
    def __init__(self, width=8192, vocabulary=65536):
        super().__init__()
        self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, hidden):
        values, places = self.lm_head(hidden).topk(40)
        return places.gather(-1, torch.multinomial(values.float().softmax(-1), 1))


@torch.inference_mode()
def run():
    head = Head().cuda().bfloat16()
    hidden = torch.randn(2048, 8192, device="cuda", dtype=torch.bfloat16)
    for _ in steps(active=3):
        head(hidden)


if __name__ == "__main__":
    run()
