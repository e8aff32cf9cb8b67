"""TRPO: each product with the Fisher matrix runs the policy and the first gradient of its KL divergence again."""

import torch
from torch import nn

from recording import fixed, steps


class Policy(nn.Module):
    def __init__(self, observed=128, hidden=1024, actions=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(observed, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, actions)

    def forward(self, observation):
        return torch.log_softmax(self.head(self.layers(observation)), -1)


class FisherProduct:
    def __init__(self, policy, observation, damping=0.1):
        self.policy, self.observation, self.damping = policy, observation, damping
        self.parameters = list(policy.parameters())
        self.kept = self.kl_gradient() if fixed() else None

    def kl_gradient(self):
        logp = self.policy(self.observation)  # FAULT
        old = logp.detach()
        kl = (old.exp() * (old - logp)).sum(-1).mean()
        gradients = torch.autograd.grad(kl, self.parameters, create_graph=True)
        return torch.cat([gradient.flatten() for gradient in gradients])

    def __call__(self, vector):
        gradient = self.kept if fixed() else self.kl_gradient()
        product = torch.autograd.grad(gradient @ vector, self.parameters, retain_graph=True)
        return torch.cat([part.flatten() for part in product]) + self.damping * vector


def conjugate_gradient(multiply, goal, iterations=4):
    x, residual, direction = torch.zeros_like(goal), goal.clone(), goal.clone()
    size = residual @ residual
    for _ in range(iterations):
        product = multiply(direction)
        rate = size / (direction @ product)
        x, residual = x + rate * direction, residual - rate * product
        following = residual @ residual
        direction, size = residual + following / size * direction, following
    return x


def train():
    policy = Policy().cuda()
    observation = torch.randn(65536, 128, device="cuda")
    goal = torch.randn(sum(parameter.numel() for parameter in policy.parameters()), device="cuda")
    for _ in steps():
        conjugate_gradient(FisherProduct(policy, observation), goal)


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
