"""DQN whose replay memory is in host memory: frames are gathered on the CPU and copied in each update."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class ReplayMemory:
    def __init__(self, capacity=6000):
        device = "cuda" if fixed() else "cpu"
        self.frames = torch.randint(0, 256, (capacity, 4, 84, 84), dtype=torch.uint8, device=device)
        self.actions = torch.randint(0, 18, (capacity,), device=device)
        self.returns = torch.randn(capacity, device=device)

    def sample(self, count):
        rows = torch.randint(0, len(self.frames), (count,), device=self.frames.device)
        batch = self.frames[rows], self.actions[rows], self.returns[rows]  # FAULT
        return [part.cuda() for part in batch]


class QNetwork(nn.Module):
    def __init__(self, actions=18):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(4, 32, 8, stride=4), nn.Conv2d(32, 64, 4, stride=2)
        self.conv3 = nn.Conv2d(64, 64, 3)
        self.hidden, self.out = nn.Linear(3136, 512), nn.Linear(512, actions)

    def forward(self, frames):
        x = frames.float().div_(255)
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        return self.out(F.relu(self.hidden(x.flatten(1))))


def update(network, optimizer, memory):
    frames, actions, returns = memory.sample(512)
    values = network(frames).gather(1, actions[:, None])[:, 0]
    loss = F.smooth_l1_loss(values, returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train():
    network, memory = QNetwork().cuda(), ReplayMemory()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, fused=True)
    for _ in steps():
        update(network, optimizer, memory)


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
