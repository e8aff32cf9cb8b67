"""Large-batch training with LARS: each layer's rate is scaled by the ratio of the norms of its weight and gradient."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, width)

    def forward(self, x):
        return x + self.outer(F.gelu(self.inner(self.norm(x))))


class Lars:
    def __init__(self, parameters, rate=0.01, momentum=0.9, decay=1e-4, trust=0.001):
        self.parameters = list(parameters)
        self.rate, self.momentum, self.decay, self.trust = rate, momentum, decay, trust
        self.buffers = [torch.zeros_like(p) for p in self.parameters]

    def scaled_gradients(self):
        scaled = []
        for parameter in self.parameters:
            weight_norm = parameter.norm()
            gradient_norm = parameter.grad.norm()
            ratio = 1.0
            if weight_norm > 0 and gradient_norm > 0:  # FAULT
                ratio = self.trust * weight_norm / (gradient_norm + self.decay * weight_norm)
            scaled.append(parameter.grad.mul_(ratio))
        return scaled

    def scaled_without_branches(self):
        gradients = [p.grad for p in self.parameters]
        weight_norms = torch.stack(torch._foreach_norm(self.parameters))
        gradient_norms = torch.stack(torch._foreach_norm(gradients))
        ratios = self.trust * weight_norms / (gradient_norms + self.decay * weight_norms)
        ratios = torch.where((weight_norms > 0) & (gradient_norms > 0), ratios, torch.ones_like(ratios))
        for gradient, ratio in zip(gradients, ratios.unbind()):
            gradient.mul_(ratio)
        return gradients

    @torch.no_grad()
    def step(self):
        scaled = self.scaled_without_branches() if fixed() else self.scaled_gradients()
        torch._foreach_mul_(self.buffers, self.momentum)
        torch._foreach_add_(self.buffers, scaled)
        torch._foreach_add_(self.parameters, self.buffers, alpha=-self.rate)


def train():
    model = nn.Sequential(*[Residual(1024) for _ in range(10)], nn.Linear(1024, 1000)).cuda().to(torch.bfloat16)
    optimizer = Lars(model.parameters())
    features = torch.randn(4096, 1024, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 1000, (4096,), device="cuda")
    for _ in steps():
        model.zero_grad()
        F.cross_entropy(model(features).float(), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
