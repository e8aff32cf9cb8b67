"""GAN training: the discriminator's step runs backward through the generator too."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Generator(nn.Module):
    def __init__(self, latent=512, width=4096, pixels=3072):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.out = nn.Linear(width, pixels)

    def forward(self, z):
        return torch.tanh(self.out(self.layers(z)))


class Discriminator(nn.Module):
    def __init__(self, pixels=3072, width=1024):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(pixels, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))

    def forward(self, images):
        return self.layers(images)[:, 0]


class Trainer:
    def __init__(self):
        self.generator, self.judge = Generator().cuda().bfloat16(), Discriminator().cuda().bfloat16()
        self.optimizer = torch.optim.Adam(self.judge.parameters(), lr=1e-4, fused=True)

    def fakes(self, count):
        z = torch.randn(count, 512, device="cuda", dtype=torch.bfloat16)
        if fixed():
            with torch.no_grad():
                return self.generator(z)
        return self.generator(z)  # FAULT

    def judge_step(self, real):
        loss = F.softplus(self.judge(self.fakes(len(real)))).mean() + F.softplus(-self.judge(real)).mean()
        self.optimizer.zero_grad()
        loss.backward()  # FAULT
        self.optimizer.step()


def train():
    trainer = Trainer()
    real = torch.randn(8192, 3072, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        trainer.judge_step(real)


if __name__ == "__main__":
    train()
