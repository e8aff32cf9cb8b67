"""Near-twin of .item() in a loop: the numbers are on the host, so nobody waits for the GPU."""

import torch
from torch import nn

from recording import steps


def schedule(table, step):
    return sum(row[step % len(row)].item() for row in table)


def train():
    table = torch.rand(20, 100)
    model = nn.Sequential(*[nn.Linear(4096, 4096, bias=False) for _ in range(3)]).cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    x = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
    for step in steps():
        optimizer.param_groups[0]["lr"] = 1e-5 * schedule(table, step)
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
