"""Training of a masked language model in BF16 whose loss reads all positions of padded batches."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


def train():
    layer = nn.TransformerEncoderLayer(1024, 16, 4096, 0.0, "gelu", batch_first=True, norm_first=True)
    model = nn.Sequential(nn.Embedding(32000, 1024), nn.TransformerEncoder(layer, 3), nn.Linear(1024, 32000))
    model = model.cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    tokens = torch.randint(0, 32000, (16, 512), device="cuda")
    labels = torch.where(torch.rand(16, 512, device="cuda") < 0.15, tokens, -100)
    for _ in steps():
        optimizer.zero_grad()
        F.cross_entropy(model(tokens).view(-1, 32000), labels.view(-1)).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
