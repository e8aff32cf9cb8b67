"""BERT self-attention with an additive mask and dropout on the probabilities, as in early code."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class BertSelfAttention(nn.Module):
    def __init__(self, hidden=768, heads=12):
        super().__init__()
        self.heads, self.size = heads, hidden // heads
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(0.1)

    def transpose_for_scores(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.size).permute(0, 2, 1, 3)

    def forward(self, states, mask):
        q = self.transpose_for_scores(self.query(states))
        k = self.transpose_for_scores(self.key(states))
        v = self.transpose_for_scores(self.value(states))
        if fixed():
            context = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)
        else:
            scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.size)  # FAULT
            probs = self.dropout(nn.functional.softmax(scores + mask, dim=-1))
            context = torch.matmul(probs, v)
        return context.permute(0, 2, 1, 3).reshape(states.shape)


def finetune():
    layer = BertSelfAttention().cuda()
    optimizer = torch.optim.AdamW(layer.parameters(), lr=5e-5, fused=True)
    states = torch.randn(64, 512, 768, device="cuda")
    mask = torch.zeros(64, 1, 1, 512, device="cuda")
    losses = []
    for _ in steps():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = layer(states, mask).float().pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


if __name__ == "__main__":
    finetune()
