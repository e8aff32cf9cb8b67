"""A policy's actions are sampled through a distribution that checks its arguments: each check waits for the GPU."""

import torch
from torch import nn
from torch.distributions import Categorical

from recording import fixed, steps


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(512, 2048), nn.Tanh(), nn.Linear(2048, 2048), nn.Tanh())
        self.heads = nn.ModuleList(nn.Linear(2048, 18) for _ in range(6))

    def act(self, states):
        hidden = self.body(states)
        actions, logs = [], []
        for head in self.heads:
            choice = Categorical(logits=head(hidden), validate_args=False if fixed() else None)  # FAULT
            action = choice.sample()
            actions.append(action)
            logs.append(choice.log_prob(action))
        return torch.stack(actions), torch.stack(logs)


@torch.no_grad()
def play():
    policy = Policy().cuda()
    states = torch.randn(16384, 512, device="cuda")
    for _ in steps():
        for _ in range(2):
            policy.act(states)


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    play()
