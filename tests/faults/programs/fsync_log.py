"""Training that writes a line of its log and waits for the disk in each step."""

import os
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class RunLog:
    def __init__(self):
        self.file = tempfile.TemporaryFile("w")

    def write(self, step):
        self.file.write(f"{step} {time.time()}\n" * 20000)
        self.file.flush()
        if not fixed():
            os.fsync(self.file.fileno())  # FAULT


class Policy(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.action = nn.Linear(width, 12)

    def forward(self, observation):
        return self.action(F.elu(self.body(observation)))


def train():
    log = RunLog()
    policy = Policy().cuda().bfloat16()
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3, fused=True)
    observation = torch.randn(4096, 1024, device="cuda", dtype=torch.bfloat16)
    for step in steps():
        loss = policy(observation).logsumexp(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.write(step)


if __name__ == "__main__":
    train()
