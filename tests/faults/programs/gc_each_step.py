"""gc.collect() after each step, added against a leak that is long gone."""

import gc

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Agent(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.torso = nn.Linear(width, width)
        self.value = nn.Linear(width, 1)

    def forward(self, x):
        return self.value(F.relu(self.torso(x)))


def clean_up():
    if not fixed():
        gc.collect()  # FAULT


@torch.inference_mode()
def evaluate():
    agent = Agent().cuda().bfloat16()
    replay = torch.randn(16384, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        agent(replay)
        clean_up()


if __name__ == "__main__":
    evaluate()
