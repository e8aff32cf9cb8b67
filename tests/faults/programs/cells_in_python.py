"""A recurrent encoder that calls a cell for each time step."""

import torch
from torch import nn

from recording import fixed, steps


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.whole = nn.GRU(width, width, batch_first=True)
        self.cell = nn.GRUCell(width, width)

    def forward(self, x):
        if fixed():
            return self.whole(x)[0]
        state = torch.zeros(x.shape[0], x.shape[2], device=x.device, dtype=x.dtype)
        states = []
        for step in range(x.shape[1]):
            state = self.cell(x[:, step], state)  # FAULT
            states.append(state)
        return torch.stack(states, dim=1)


@torch.inference_mode()
def run():
    model = Encoder(128).cuda()
    x = torch.randn(32, 24, 128, device="cuda")
    for _ in steps():
        model(x)


if __name__ == "__main__":
    run()
