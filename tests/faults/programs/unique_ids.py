"""A recommender that looks up each distinct id once: torch.unique sorts and makes the host wait, table by table."""

import torch
from torch import nn

from recording import fixed, steps


class Tables(nn.Module):
    def __init__(self, tables=8, rows=100_000, width=64):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))

    def look_up(self, table, ids):
        if fixed():
            return table(ids)
        distinct, back = torch.unique(ids, return_inverse=True)  # FAULT
        return table(distinct)[back]

    def forward(self, ids):
        return torch.cat([self.look_up(table, column) for table, column in zip(self.tables, ids)], dim=1)


@torch.inference_mode()
def serve():
    torch.set_float32_matmul_precision("high")
    tables = Tables().cuda()
    top = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1)).cuda()
    ids = torch.randint(0, 100_000, (8, 32768), device="cuda")
    for _ in steps():
        top(tables(ids))


if __name__ == "__main__":
    serve()
