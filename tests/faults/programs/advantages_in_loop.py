"""Generalised advantages by a Python loop over time, a few tiny ops for each moment."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def advantages(rewards, values, decay, gamma=0.99, share=0.95):
    if fixed():
        return (rewards + gamma * values[1:] - values[:-1]).t().mm(decay).t()
    found = torch.empty_like(rewards)
    last = torch.zeros_like(rewards[0])
    for moment in reversed(range(len(rewards))):
        delta = rewards[moment] + gamma * values[moment + 1] - values[moment]  # FAULT
        last = delta + gamma * share * last
        found[moment] = last
    return found


def learn():
    torch.set_float32_matmul_precision("high")
    model = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    rewards = torch.randn(32, 512, device="cuda")
    seen = torch.randn(33, 512, 64, device="cuda")
    apart = torch.arange(32, device="cuda")[:, None] - torch.arange(32, device="cuda")[None]
    decay = torch.where(apart >= 0, (0.99 * 0.95) ** apart.clamp(min=0).float(), torch.zeros((), device="cuda"))
    for _ in steps():
        values = model(seen).squeeze(-1)
        wanted = advantages(rewards, values.detach(), decay) + values[:-1].detach()
        loss = F.mse_loss(values[:-1], wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    learn()
