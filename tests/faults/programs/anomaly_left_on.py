"""Training with anomaly detection left on: each gradient is searched for NaN, and the host waits for the answer."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def train():
    torch.set_float32_matmul_precision("high")
    model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(5)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    x = torch.randn(2048, 2048, device="cuda")
    with torch.autograd.set_detect_anomaly(not fixed()):  # FAULT
        for _ in steps():
            loss = F.mse_loss(model(x), x)
            optimizer.zero_grad()
            loss.backward()  # FAULT
            optimizer.step()


if __name__ == "__main__":
    train()
