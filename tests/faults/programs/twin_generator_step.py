"""Near-twin of fakes that are not detached: the generator's own step needs the gradient through both networks."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Generator(nn.Module):
    def __init__(self, latent=512, width=4096, pixels=3072):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.out = nn.Linear(width, pixels)

    def forward(self, z):
        return self.out(self.layers(z))


class Discriminator(nn.Module):
    def __init__(self, pixels=3072, width=4096):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(pixels, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.out = nn.Linear(width, 1)

    def forward(self, images):
        return self.out(self.layers(images))[:, 0]


class Trainer:
    def __init__(self):
        self.generator = Generator().cuda().bfloat16()
        self.judge = Discriminator().cuda().bfloat16().requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.generator.parameters(), lr=1e-4, fused=True)

    def generator_step(self, count):
        z = torch.randn(count, 512, device="cuda", dtype=torch.bfloat16)
        loss = F.softplus(-self.judge(self.generator(z))).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def train():
    trainer = Trainer()
    for _ in steps():
        trainer.generator_step(16384)


if __name__ == "__main__":
    train()
