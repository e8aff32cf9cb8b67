"""Private training: one forward and one backward pass for each sample, to clip its gradient."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, vmap

from recording import fixed, steps


def loss_of(weights, model, x, label):
    return F.cross_entropy(functional_call(model, weights, (x[None],)), label[None])


def clipped_gradients(model, x, labels):
    if fixed():
        weights = {name: value.detach() for name, value in model.named_parameters()}
        found = vmap(grad(loss_of), in_dims=(None, None, 0, 0))(weights, model, x, labels).values()
        scale = torch.stack([g.flatten(1).norm(dim=1) for g in found]).norm(dim=0).clamp(min=1).reciprocal()
        return [torch.tensordot(scale, g, dims=1) for g in found]
    total = [torch.zeros_like(parameter) for parameter in model.parameters()]
    for one, label in zip(x, labels):
        loss = F.cross_entropy(model(one[None]), label[None])  # FAULT
        found = torch.autograd.grad(loss, list(model.parameters()))
        scale = torch._foreach_norm(found)
        scale = torch.stack(scale).norm().clamp(min=1).reciprocal()
        torch._foreach_add_(total, torch._foreach_mul(found, scale))
    return total


def train():
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
    x = torch.randn(12, 784, device="cuda")
    labels = torch.randint(0, 10, (12,), device="cuda")
    for _ in steps():
        found = clipped_gradients(model, x, labels)
        with torch.no_grad():
            torch._foreach_add_(list(model.parameters()), found, alpha=-0.1 / len(x))


if __name__ == "__main__":
    train()
