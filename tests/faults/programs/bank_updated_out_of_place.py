"""Instance discrimination with a memory bank: the features of the batch replace their old rows in each step."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

ROWS = 6_000_000
WIDTH = 256
BATCH = 4096


class Bank:
    def __init__(self):
        self.rows = torch.randn(ROWS, WIDTH, device="cuda", dtype=torch.bfloat16).mul_(WIDTH**-0.5)

    def candidates(self, ids, negatives=8192):
        others = torch.randint(ROWS, (negatives,), device="cuda")
        return self.rows.index_select(0, torch.cat([ids, others]))

    def replace(self, ids, features):
        if fixed():
            self.rows.index_copy_(0, ids, features)
        else:
            self.rows = self.rows.index_copy(0, ids, features)  # FAULT


def train():
    torch.manual_seed(0)
    bank = Bank()
    layers = [nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, WIDTH)]
    encoder = nn.Sequential(*layers).cuda().bfloat16()
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-4, fused=True)
    x = torch.randn(BATCH, 1024, device="cuda", dtype=torch.bfloat16)
    ids = torch.arange(0, 1000 * BATCH, 1000, device="cuda")
    target = torch.arange(BATCH, device="cuda")
    for _ in steps():
        features = F.normalize(encoder(x), dim=1)
        logits = (features * 10.0) @ bank.candidates(ids).t()
        F.cross_entropy(logits, target).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        bank.replace(ids, features.detach())


if __name__ == "__main__":
    train()
