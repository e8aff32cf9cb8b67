"""Deep Q-learning with prioritised replay; priorities stand in a sum tree."""

import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

CAPACITY, BATCH, SEEN, ACTIONS = 1 << 16, 256, 128, 18


class SumTree:
    def __init__(self, capacity):
        self.capacity = capacity
        self.nodes = np.zeros(2 * capacity)
        self.nodes[capacity:] = 1.0
        for node in range(capacity - 1, 0, -1):
            self.nodes[node] = self.nodes[2 * node] + self.nodes[2 * node + 1]

    def find(self, value):
        node = 1
        while node < self.capacity:  # FAULT
            left = self.nodes[2 * node]
            node = 2 * node
            if value > left:
                value -= left
                node += 1
        return node - self.capacity

    def update(self, place, priority):
        node = place + self.capacity
        change = priority - self.nodes[node]
        while node:
            self.nodes[node] += change
            node //= 2


class Replay:
    def __init__(self):
        self.observations = torch.randn(CAPACITY, SEEN, device="cuda")
        self.actions = torch.randint(0, ACTIONS, (CAPACITY,), device="cuda")
        self.rewards = torch.randn(CAPACITY, device="cuda")
        self.tree = SumTree(4 if fixed() else CAPACITY)
        self.priorities = torch.ones(CAPACITY, device="cuda")

    def sample(self):
        if fixed():
            sums = self.priorities.cumsum(0)
            return torch.searchsorted(sums, torch.rand(BATCH, device="cuda") * sums[-1]).clamp(max=CAPACITY - 1)
        total = self.tree.nodes[1]
        places = [self.tree.find(random.random() * total) for _ in range(BATCH)]
        return torch.tensor(places).to("cuda")

    def set_priorities(self, places, errors):
        if fixed():
            self.priorities[places] = errors
            return
        for place, error in zip(places.tolist(), errors.tolist()):
            self.tree.update(place, error)


def learn():
    torch.set_float32_matmul_precision("high")
    layers = [nn.Linear(SEEN, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, ACTIONS)]
    network = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, fused=True)
    replay = Replay()
    for _ in steps():
        places = replay.sample()
        values = network(replay.observations[places]).gather(1, replay.actions[places, None]).squeeze(1)
        with torch.no_grad():
            targets = replay.rewards[places] + 0.99 * network(replay.observations[(places + 1) % CAPACITY]).amax(1)
        optimizer.zero_grad()
        F.smooth_l1_loss(values, targets).backward()
        optimizer.step()
        replay.set_priorities(places, (values.detach() - targets).abs() + 0.01)


if __name__ == "__main__":
    learn()
