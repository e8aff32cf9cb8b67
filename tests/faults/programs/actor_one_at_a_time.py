"""Sixteen environments played one by one: observation up, a tiny network, the action down, sixteen times."""

import numpy as np
import torch
from torch import nn

from recording import fixed, steps


def play(policy, states):
    if fixed():
        actions = policy(torch.from_numpy(states).cuda()).argmax(dim=-1).cpu().numpy()
    else:
        actions = np.array([policy(torch.from_numpy(state).cuda()).argmax().item() for state in states])  # FAULT
    return np.roll(states, 1, axis=1) * (0.9 + 0.01 * actions[:, None]).astype(np.float32)


@torch.inference_mode()
def act():
    policy = nn.Sequential(nn.Linear(128, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 8)).cuda()
    states = np.random.default_rng(0).random((16, 128), dtype=np.float32)
    for _ in steps():
        states = play(policy, states)


if __name__ == "__main__":
    act()
