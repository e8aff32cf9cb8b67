"""PPO that reads the KL divergence on the host after each minibatch, so the next shuffle is never hidden."""

import numpy as np
import torch
from torch import nn

from recording import fixed, steps


class Policy(nn.Module):
    def __init__(self, observed=64, hidden=2048, actions=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observed, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, actions)

    def forward(self, observation):
        return torch.log_softmax(self.head(self.body(observation)), -1)


class Updater:
    def __init__(self, policy, target_kl=50.0):
        self.policy, self.target_kl = policy, target_kl
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=1e-5, fused=True)

    def shuffled(self, size):
        return torch.from_numpy(np.random.permutation(size)).pin_memory().cuda(non_blocking=True)

    def minibatch(self, rollout, rows):
        action = rollout["action"][rows]
        logp = self.policy(rollout["observation"][rows]).gather(1, action[:, None])[:, 0]
        difference = logp - rollout["logp"][rows]
        ratio = difference.exp()
        advantage = rollout["advantage"][rows]
        loss = -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return -difference.detach().mean()

    def update(self, rollout, size, epochs=2):
        total = torch.zeros((), device="cuda")
        for _ in range(epochs):
            for rows in self.shuffled(size).chunk(2):
                kl = self.minibatch(rollout, rows)
                if fixed():
                    total += kl
                elif kl.item() > self.target_kl:  # FAULT
                    return
        self.last_kl = total


def collect(size):
    return {
        "observation": torch.randn(size, 64, device="cuda"),
        "action": torch.randint(0, 16, (size,), device="cuda"),
        "logp": torch.full((size,), -2.77, device="cuda"),
        "advantage": torch.randn(size, device="cuda"),
    }


def train(size=65536):
    updater = Updater(Policy().cuda())
    rollout = collect(size)
    for _ in steps():
        updater.update(rollout, size)


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
