"""Training from a DataLoader with workers, pinned memory and copies that do not block."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

from recording import steps


class Rows(Dataset):
    def __init__(self):
        self.rows = torch.randn(64, 1024, 512)

    def __len__(self):
        return 1_000

    def __getitem__(self, index):
        return self.rows[index % 64]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(512, 8192)
        self.middle = nn.Linear(8192, 8192)
        self.leave = nn.Linear(8192, 512)

    def forward(self, x):
        return self.leave(F.relu(self.middle(F.relu(self.enter(x)))))


def train():
    model = Net().cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    loader = DataLoader(Rows(), batch_size=16, num_workers=6, pin_memory=True, prefetch_factor=4)
    for _, rows in zip(steps(), loader):
        rows = rows.to("cuda", non_blocking=True).bfloat16()
        loss = F.mse_loss(model(rows), rows)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
