"""A learned map from 3 coordinates to 128 fields; its derivative by the coordinates is wanted at many points."""

import torch
from torch import nn
from torch.func import functional_call, jacfwd, jacrev, vmap

from recording import fixed, steps

INPUTS, FIELDS = 3, 128


class FieldNetwork(nn.Module):
    def __init__(self, width=256, layers=3):
        super().__init__()
        sizes = [INPUTS] + [width] * layers
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(width, FIELDS)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.out(x)


class Derivatives:
    def __init__(self, network):
        self.network = network
        self.parameters = {name: p.detach() for name, p in network.named_parameters()}

    def value(self, point):
        return functional_call(self.network, self.parameters, (point,))

    def jacobian(self, points):
        if fixed():
            return vmap(jacfwd(self.value))(points)
        return vmap(jacrev(self.value))(points)  # FAULT

    def strain(self, points):
        """The size of the change of the fields at each point."""
        derivative = self.jacobian(points)
        metric = derivative.mT @ derivative
        return metric.diagonal(dim1=1, dim2=2).sum(-1).sqrt()


def survey():
    torch.set_float32_matmul_precision("high")
    network = FieldNetwork().cuda()
    derivatives = Derivatives(network)
    points = torch.rand(12288, INPUTS, device="cuda")
    largest = torch.zeros((), device="cuda")
    for _ in steps():
        largest = torch.maximum(largest, derivatives.strain(points).amax())
    return largest


if __name__ == "__main__":
    survey()
