"""Contrastive training: all cosine similarities by broadcasting two batches against each other."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Projector(nn.Module):
    def __init__(self, width=2048, out=256):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, out))

    def forward(self, features):
        return self.layers(features)


def similarities(a, b):
    if fixed():
        return F.normalize(a, dim=1) @ F.normalize(b, dim=1).t()
    return F.cosine_similarity(a[:, None], b[None], dim=-1)  # FAULT


def contrastive_loss(a, b, temperature=0.1):
    logits = similarities(a, b) / temperature
    labels = torch.arange(len(a), device=a.device)
    return F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)


def train():
    images, texts = Projector().cuda(), Projector().cuda()
    parameters = list(images.parameters()) + list(texts.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    image, text = torch.randn(2, 1024, 2048, device="cuda")
    for _ in steps():
        loss = contrastive_loss(images(image), texts(text))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    train()
