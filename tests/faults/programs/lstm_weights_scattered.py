"""An LSTM whose weights were replaced one by one: they are no single block, and each call packs them again."""

import warnings

import torch
from torch import nn

from recording import fixed, steps

warnings.filterwarnings("ignore", message="RNN module weights")


class Tagger(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.LSTM(width, width, num_layers=2)

    def forward(self, x):
        return self.rnn(x)[0]  # FAULT


@torch.no_grad()
def tag():
    model = Tagger(1024).cuda().half()
    if not fixed():
        for parameter in model.rnn.parameters():
            parameter.data = parameter.data.clone()
    x = torch.randn(6, 32, 1024, device="cuda", dtype=torch.float16)
    for _ in steps(active=3):
        model(x)


if __name__ == "__main__":
    tag()
