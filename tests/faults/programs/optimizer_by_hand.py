"""Adam written out by hand: a chain of ops for each parameter."""

import torch
from torch import nn

from recording import fixed, steps


class HandAdam:
    def __init__(self, parameters, rate=1e-3, betas=(0.9, 0.999), epsilon=1e-8):
        self.parameters = list(parameters)
        self.rate, self.betas, self.epsilon = rate, betas, epsilon
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self):
        for p, m, v in zip(self.parameters, self.first, self.second):
            m.mul_(self.betas[0]).add_(p.grad, alpha=1 - self.betas[0])  # FAULT
            v.mul_(self.betas[1]).addcmul_(p.grad, p.grad, value=1 - self.betas[1])
            p.addcdiv_(m, v.sqrt().add_(self.epsilon), value=-self.rate)
            p.grad = None


class Wide(nn.Module):
    def __init__(self, width=6144):
        super().__init__()
        self.a = nn.Linear(width, width, bias=False)
        self.b = nn.Linear(width, width, bias=False)
        self.c = nn.Linear(width, width, bias=False)

    def forward(self, x):
        return self.c(torch.relu(self.b(torch.relu(self.a(x)))))


def train():
    torch.set_float32_matmul_precision("high")
    model = Wide().cuda()
    if fixed():
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    else:
        optimizer = HandAdam(model.parameters())
    x = torch.randn(2048, 6144, device="cuda")
    for _ in steps():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        if fixed():
            optimizer.zero_grad()


if __name__ == "__main__":
    train()
