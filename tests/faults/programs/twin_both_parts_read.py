"""Near-twin of rows that are cut off: tokens of text and image run together and are taken apart, both read."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import steps


class Joint(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm, self.inputs, self.output = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.text, self.image = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, text, image):
        x = torch.cat([text, image], 1)
        q, k, v = self.inputs(self.norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.output(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        count = text.shape[1]
        return self.text(x[:, :count]), self.image(x[:, count:])


@torch.inference_mode()
def denoise():
    layers = nn.ModuleList(Joint(2048, 16) for _ in range(4)).cuda().bfloat16()
    text = torch.randn(8, 256, 2048, device="cuda", dtype=torch.bfloat16)
    image = torch.randn(8, 1024, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        a, b = text, image
        for layer in layers:
            a, b = layer(a, b)


if __name__ == "__main__":
    denoise()
