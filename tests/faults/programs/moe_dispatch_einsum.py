"""A switch layer: each token goes to one expert, experts take a limited number of tokens."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Experts(nn.Module):
    def __init__(self, count, width, inner):
        super().__init__()
        self.up = nn.Parameter(torch.randn(count, width, inner, device="cuda") * width**-0.5)
        self.down = nn.Parameter(torch.randn(count, inner, width, device="cuda") * inner**-0.5)

    def forward(self, x):
        return torch.bmm(F.gelu(torch.bmm(x, self.up)), self.down)


class SwitchLayer(nn.Module):
    def __init__(self, width=1024, inner=4096, count=16, capacity=1024):
        super().__init__()
        self.count, self.capacity = count, capacity
        self.norm = nn.LayerNorm(width)
        self.router = nn.Linear(width, count, bias=False)
        self.experts = Experts(count, width, inner)

    def route(self, x):
        """Expert, weight and place within the expert for each token."""
        weight, expert = self.router(x).softmax(dim=-1).max(dim=-1)
        mine = expert[None] == torch.arange(self.count, device=x.device)[:, None]
        place = mine.cumsum(dim=1, dtype=torch.int32).gather(0, expert[None])[0].long() - 1
        return expert, weight, place

    def by_index(self, x, expert, weight, place):
        rest = self.count * self.capacity
        slot = torch.where(place < self.capacity, expert * self.capacity + place, rest)
        buffer = x.new_zeros(rest + 1, x.shape[1]).index_copy_(0, slot, x)
        y = self.experts(buffer[:rest].view(self.count, self.capacity, -1)).flatten(0, 1)
        taken = (place < self.capacity) * weight
        return y[slot.clamp(max=rest - 1)] * taken[:, None]

    def by_mask(self, x, expert, weight, place):
        experts = F.one_hot(expert, self.count).to(x.dtype)
        places = F.one_hot(place.clamp(max=self.capacity), self.capacity + 1)[:, : self.capacity].to(x.dtype)
        mask = experts[:, :, None] * places[:, None, :]
        y = self.experts(torch.einsum("tec,td->ecd", mask, x))  # FAULT
        return torch.einsum("tec,ecd->td", mask * weight[:, None, None], y)

    def forward(self, x):
        y = self.norm(x)
        dispatch = self.by_index if fixed() else self.by_mask
        return x + dispatch(y, *self.route(y))


@torch.inference_mode()
def run():
    layers = nn.Sequential(SwitchLayer(), SwitchLayer()).cuda().bfloat16()
    tokens = torch.randn(8192, 1024, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        layers(tokens)


if __name__ == "__main__":
    run()
