"""Text-to-image denoising: latents attend to the prompt, which is the same at every timestep."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

WIDTH, TEXT, HEADS, TIMES = 1024, 2048, 16, 4


class CrossAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key_value = nn.Linear(TEXT, 2 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.kept = None

    def project_prompt(self, prompt):
        if fixed() and self.kept is not None:
            return self.kept
        batch, length, _ = prompt.shape
        self.kept = self.key_value(prompt).view(batch, length, 2, HEADS, -1).permute(2, 0, 3, 1, 4)  # FAULT
        return self.kept

    def forward(self, x, prompt):
        batch, length, _ = x.shape
        q = self.query(x).view(batch, length, HEADS, -1).transpose(1, 2)
        k, v = self.project_prompt(prompt)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class Denoiser(nn.Module):
    def __init__(self, layers=6):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(layers))
        self.attentions = nn.ModuleList(CrossAttention() for _ in range(layers))
        self.mixers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(layers))

    def forget(self):
        for attention in self.attentions:
            attention.kept = None

    def forward(self, x, prompt):
        for norm, attention, mixer in zip(self.norms, self.attentions, self.mixers):
            y = norm(x)
            x = x + attention(y, prompt) + mixer(y)
        return x


@torch.no_grad()
def sample():
    model = Denoiser().cuda().to(torch.bfloat16)
    prompt = torch.randn(16, 512, TEXT, device="cuda", dtype=torch.bfloat16)
    start = torch.randn(16, 256, WIDTH, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model.forget()
        latents = start
        for _ in range(TIMES):
            latents = torch.lerp(latents, model(latents, prompt), 0.1)


if __name__ == "__main__":
    sample()
