"""Double Q-learning: the online network also values the next states, without gradients. Those are other rows."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class QNetwork(nn.Module):
    def __init__(self, inputs=1024, hidden=2048, actions=64):
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.values = nn.Linear(hidden, actions)

    def forward(self, states):
        return self.values(F.relu(self.second(F.relu(self.first(states)))))


def update(online, target, optimizer, states, actions, rewards, following):
    values = online(states).gather(1, actions)
    with torch.no_grad():
        chosen = online(following).argmax(dim=1, keepdim=True)
        goal = rewards + 0.99 * target(following).gather(1, chosen)
    loss = F.mse_loss(values, goal)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def train():
    torch.manual_seed(0)
    online, target = QNetwork().cuda().bfloat16(), QNetwork().cuda().bfloat16()
    optimizer = torch.optim.Adam(online.parameters(), fused=True)
    rows = 65536
    states, following = torch.randn(2, rows, 1024, device="cuda", dtype=torch.bfloat16)
    actions = torch.randint(0, 64, (rows, 1), device="cuda")
    rewards = torch.randn(rows, 1, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        update(online, target, optimizer, states, actions, rewards, following)


if __name__ == "__main__":
    train()
