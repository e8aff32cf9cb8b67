"""Image generation: the whole loop of denoising steps is one CUDA graph."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps

WIDTH, HEADS, TIMES = 1024, 16, 3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.mlp(x)


class Sampler:
    def __init__(self, model, shape):
        self.model = model
        self.noise = torch.zeros(shape, device="cuda", dtype=torch.bfloat16)
        self.denoise(self.noise)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.result = self.denoise(self.noise)

    def denoise(self, x):
        for time in range(TIMES):
            x = torch.lerp(x, self.model(x), 1 / (TIMES - time))
        return x

    def draw(self):
        self.noise.normal_()
        self.graph.replay()
        return self.result


@torch.no_grad()
def generate():
    model = nn.Sequential(*[Block() for _ in range(6)]).cuda().to(torch.bfloat16)
    sampler = Sampler(model, (8, 1024, WIDTH))
    for _ in steps():
        sampler.draw()


if __name__ == "__main__":
    generate()
