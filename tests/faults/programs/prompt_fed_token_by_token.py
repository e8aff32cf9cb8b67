"""A server that feeds the prompt through the decoding path, one token after the other."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Layer(nn.Module):
    def __init__(self, width=2048, heads=16, room=64):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.cache = torch.zeros(2, 4, heads, room, width // heads, device="cuda", dtype=torch.bfloat16)

    def attend(self, x, start):
        b, n, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        self.cache[0, :, :, start : start + n] = k
        self.cache[1, :, :, start : start + n] = v
        keys, values = self.cache[:, :, :, : start + n]
        y = F.scaled_dot_product_attention(q, keys, values, is_causal=n > 1)
        return self.out(y.transpose(1, 2).reshape(b, n, width))

    def forward(self, x, start):
        x = x + self.attend(x, start)
        return x + self.down(F.gelu(self.up(x)))


class Model(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.table = nn.Embedding(8000, 2048)
        self.layers = nn.ModuleList(Layer() for _ in range(depth))

    def forward(self, tokens, start):
        x = self.table(tokens)
        for layer in self.layers:
            x = layer(x, start)
        return x


def prefill(model, prompt):
    if fixed():
        return model(prompt, 0)[:, -1]
    for position in range(prompt.shape[1]):
        hidden = model(prompt[:, position : position + 1], position)  # FAULT
    return hidden[:, -1]


@torch.inference_mode()
def serve():
    model = Model().cuda().bfloat16()
    prompt = torch.randint(0, 8000, (4, 8), device="cuda")
    for _ in steps():
        prefill(model, prompt)


if __name__ == "__main__":
    serve()
