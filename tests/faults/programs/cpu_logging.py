"""Training that logs every parameter's gradient norm on the CPU in each step."""

from collections import defaultdict

import torch
from torch import nn

from recording import fixed, steps


class Regressor(nn.Module):
    def __init__(self, width=4096, depth=4):
        super().__init__()
        layers = []
        for _ in range(depth):
            layers += [nn.Linear(width, width), nn.ReLU()]
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return self.body(x)


class GradientLog:
    def __init__(self):
        self.norms = defaultdict(list)

    def after_backward(self, model):
        for name, parameter in model.named_parameters():
            norm = parameter.grad.norm()
            if not fixed():
                norm = norm.cpu()  # FAULT
            self.norms[name] = [norm]


def fit():
    model = Regressor().cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, fused=True)
    log = GradientLog()
    x = torch.randn(8192, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        log.after_backward(model)
        optimizer.step()


if __name__ == "__main__":
    fit()
