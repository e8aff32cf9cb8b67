"""An exponential moving average of the weights, parameter by parameter."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class WeightAverage:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.averages = [p.detach().clone() for p in model.parameters()]

    @torch.no_grad()
    def update(self, model):
        if fixed():
            torch._foreach_lerp_(self.averages, list(model.parameters()), 1 - self.decay)
            return
        for average, parameter in zip(self.averages, model.parameters()):
            average.mul_(self.decay).add_(parameter * (1 - self.decay))  # FAULT


class Critic(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return x


@torch.no_grad()
def main():
    torch.set_float32_matmul_precision("high")
    critic = Critic().cuda()
    average = WeightAverage(critic)
    x = torch.randn(512, 4096, device="cuda")
    for _ in steps():
        critic(x)
        average.update(critic)


if __name__ == "__main__":
    main()
