"""Adapters: a small low-rank product for each tenant in a batch, in a loop."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class TenantAdapters(nn.Module):
    def __init__(self, tenants=20, width=1024, rank=16):
        super().__init__()
        self.down = nn.Parameter(torch.randn(tenants, width, rank) * 0.02)
        self.up = nn.Parameter(torch.randn(tenants, rank, width) * 0.02)

    def forward(self, x):
        if fixed():
            return x + torch.bmm(torch.bmm(x, self.down), self.up)
        rows = []
        for tenant, row in enumerate(x):
            rows.append(row + torch.mm(torch.mm(row, self.down[tenant]), self.up[tenant]))  # FAULT
        return torch.stack(rows)


@torch.inference_mode()
def serve():
    adapters = TenantAdapters().cuda().bfloat16()
    base = nn.Linear(1024, 1024).cuda().bfloat16()
    x = torch.randn(20, 32, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        adapters(base(x))


if __name__ == "__main__":
    serve()
