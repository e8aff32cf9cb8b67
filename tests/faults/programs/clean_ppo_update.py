"""PPO on the GPU: rollout, shuffle and update stay there, and no number is read; nothing to repair."""

import torch
from torch import nn

from recording import steps


class Policy(nn.Module):
    def __init__(self, observed=512, hidden=4096, actions=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observed, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, actions)

    def forward(self, observation):
        return torch.log_softmax(self.head(self.body(observation)).float(), -1)


def surrogate(policy, observation, action, old, advantage):
    ratio = (policy(observation).gather(1, action) - old).exp()
    return -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()


def update(policy, optimizer, rollout, parts=2):
    order = torch.randperm(len(rollout[0]), device="cuda")
    for rows in order.chunk(parts):
        loss = surrogate(policy, *[part.index_select(0, rows) for part in rollout])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train(size=65536):
    policy = Policy().cuda().bfloat16()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-5, fused=True)
    observation = torch.randn(size, 512, device="cuda", dtype=torch.bfloat16)
    action = torch.randint(0, 64, (size, 1), device="cuda")
    old = torch.full((size, 1), -4.16, device="cuda")
    advantage = torch.randn(size, 1, device="cuda")
    for _ in steps():
        update(policy, optimizer, (observation, action, old, advantage))


if __name__ == "__main__":
    train()
