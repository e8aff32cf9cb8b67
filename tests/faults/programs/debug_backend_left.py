"""A compiled decoder block; the backend was chosen while a fault of the compiler was looked for."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

WIDTH = 2048


class GatedBlock(nn.Module):
    """Modulated, gated and scaled as in recent decoders: much of it is meant to be fused."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(WIDTH, WIDTH, bias=False)
        self.scale = nn.Parameter(torch.ones(WIDTH))
        self.shift = nn.Parameter(torch.zeros(WIDTH))
        self.gain = nn.Parameter(torch.full((WIDTH,), 0.1))

    def normalise(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)
        return (wide * (1 + self.scale) + self.shift).to(x.dtype)

    def forward(self, x):
        gate, value = self.up(self.normalise(x)).chunk(2, -1)
        mixed = torch.tanh(gate / 30) * 30 * F.silu(value)
        return x + self.gain * self.down(mixed)


class Engine:
    def __init__(self, layers=4):
        model = nn.Sequential(*[GatedBlock() for _ in range(layers)]).cuda().to(torch.bfloat16)
        backend = "inductor" if fixed() else "aot_eager"
        self.compiled = torch.compile(model, backend=backend, fullgraph=True)

    def prefill(self, prompt):
        return self.compiled(prompt)  # FAULT


@torch.no_grad()
def serve():
    engine = Engine()
    prompt = torch.randn(8, 2048, WIDTH, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        engine.prefill(prompt)


if __name__ == "__main__":
    serve()
