"""Training that empties the allocator's cache after each step."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Autoencoder(nn.Module):
    def __init__(self, width=8192, code=2048):
        super().__init__()
        self.encode = nn.Linear(width, code)
        self.decode = nn.Linear(code, width)

    def forward(self, x):
        return self.decode(F.silu(self.encode(x)))


def train_step(model, optimizer, batch):
    loss = F.mse_loss(model(batch), batch)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if not fixed():
        torch.cuda.empty_cache()  # FAULT


def main():
    model = Autoencoder().cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    batch = torch.rand(16384, 8192, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        train_step(model, optimizer, batch)


if __name__ == "__main__":
    main()
