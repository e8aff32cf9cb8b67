"""A long sequence through a cuDNN LSTM."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Tagger(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.tags = nn.Linear(width, 1024)

    def forward(self, x):
        return self.tags(self.lstm(x)[0])


@torch.inference_mode()
def tag():
    model = Tagger().cuda().half()
    x = torch.randn(512, 32, 1024, device="cuda", dtype=torch.half)
    for _ in steps(active=2):
        model(x)


if __name__ == "__main__":
    tag()
