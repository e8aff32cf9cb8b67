"""Training that logs a histogram of each parameter's gradient with NumPy in each step."""

import numpy as np
import torch
from torch import nn

from recording import fixed, steps


class Log:
    def __init__(self):
        self.rows = {}

    def histograms(self, model):
        for name, parameter in model.named_parameters():
            values = parameter.grad.float().cpu().numpy()  # FAULT
            self.rows[name] = np.histogram(values, bins=64)


def train():
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 64)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    x, y = torch.randn(4096, 512, device="cuda"), torch.randn(4096, 64, device="cuda")
    log = Log()
    for step in steps(timed=10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        if not fixed():
            log.histograms(model)
        optimizer.step()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
