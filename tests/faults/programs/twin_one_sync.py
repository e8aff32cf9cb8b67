"""Near-twin of synchronisation stalls: the loss is read once, at the end of a long step."""

import torch
from torch import nn

from recording import steps


class Classifier(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width, bias=False), nn.ReLU(), nn.Linear(width, width, bias=False))

    def forward(self, x):
        return self.layers(x)


def train():
    model = Classifier().cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    x = torch.randn(65536, 4096, device="cuda", dtype=torch.bfloat16)
    losses = []
    for _ in steps():
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


if __name__ == "__main__":
    train()
