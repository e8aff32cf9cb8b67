"""Near-twin of a bank updated out of place: the queue is written in place, and all of it is used in each step."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps

ROWS = 16384
WIDTH = 512
BATCH = 4096


class Queue:
    def __init__(self):
        self.rows = torch.randn(ROWS, WIDTH, device="cuda", dtype=torch.bfloat16).mul_(WIDTH**-0.5)
        self.next = 0

    def replace(self, features):
        self.rows[self.next : self.next + BATCH].copy_(features)
        self.next = (self.next + BATCH) % ROWS


def encoder():
    layers = [nn.Linear(2048, 8192), nn.ReLU(inplace=True), nn.Linear(8192, 8192), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.Linear(8192, WIDTH)).cuda().bfloat16()


def train():
    torch.manual_seed(0)
    queue = Queue()
    student, teacher = encoder(), encoder().requires_grad_(False)
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-4, fused=True)
    views = torch.randn(2, BATCH, 2048, device="cuda", dtype=torch.bfloat16)
    target = torch.arange(BATCH, device="cuda")
    for _ in steps():
        with torch.no_grad():
            torch._foreach_lerp_(list(teacher.parameters()), list(student.parameters()), 0.01)
            keys = F.normalize(teacher(views[1]), dim=1)
        queries = F.normalize(student(views[0]), dim=1) * 10.0
        logits = queries @ torch.cat([keys, queue.rows]).t()
        F.cross_entropy(logits, target).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        queue.replace(keys)


if __name__ == "__main__":
    train()
