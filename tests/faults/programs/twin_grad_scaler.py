"""Near-twin of a wait in each layer: GradScaler asks once in a step whether the gradients are finite."""

import torch
from torch import nn

from recording import steps


def train():
    model = nn.Sequential(*[nn.Linear(4096, 4096, bias=False) for _ in range(3)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda")
    x = torch.randn(16384, 4096, device="cuda", dtype=torch.float16)
    for _ in steps():
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(x).float().mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


if __name__ == "__main__":
    train()
