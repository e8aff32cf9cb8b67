"""An audio encoder clones its hidden states before each layer, before the norm and for a list of states, for safety."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + F.gelu(self.linear(self.norm(x)))


class CarefulLayer(Layer):
    def forward(self, x):
        residual = x.clone()  # FAULT
        x = self.norm(x.clone())
        return residual + F.gelu(self.linear(x))


class Encoder(nn.Module):
    def __init__(self, width=1024, depth=6, keep=(1, 3, 5)):
        super().__init__()
        kind = Layer if fixed() else CarefulLayer
        self.layers = nn.ModuleList(kind(width) for _ in range(depth))
        self.keep = keep

    def forward(self, frames):
        x, states = frames, []
        for number, layer in enumerate(self.layers):
            x = layer(x)
            if number in self.keep:
                states.append(x if fixed() else x.clone())  # FAULT
        return states


class Probe(nn.Module):
    def __init__(self, width=1024, kept=3, classes=64):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(width, classes) for _ in range(kept))

    def forward(self, states):
        return [head(state) for head, state in zip(self.heads, states)]


@torch.inference_mode()
def listen():
    encoder, probe = Encoder().cuda().half(), Probe().cuda().half()
    frames = torch.randn(64, 1500, 1024, device="cuda", dtype=torch.float16)
    for _ in steps():
        probe(encoder(frames))


if __name__ == "__main__":
    listen()
