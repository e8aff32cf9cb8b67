"""Click prediction: the rows of the table hold the label in front of the features."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def split(rows):
    labels = rows[:, 0]
    features = rows[:, 1:]  # FAULT
    if fixed():
        features = features.contiguous()
    return features, labels


def train_step(model, optimizer, rows):
    features, labels = split(rows)
    logits = model(features).squeeze(1)  # FAULT
    loss = F.binary_cross_entropy_with_logits(logits.float(), labels.float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train():
    model = nn.Sequential(nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 1))
    model = model.cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    rows = torch.randn(65536, 2049, device="cuda", dtype=torch.bfloat16)
    rows[:, 0] = (rows[:, 0] > 0).bfloat16()
    for _ in steps():
        train_step(model, optimizer, rows)


if __name__ == "__main__":
    torch.manual_seed(0)
    train()
