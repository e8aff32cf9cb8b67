"""Speech encoder: the collate function builds the full attention mask on the CPU and it is copied in each step."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Block(nn.Module):
    def __init__(self, width=512, heads=8):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        b, n, width = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).reshape(b, n, width))
        return x + self.down(F.gelu(self.up(x)))


def collate(lengths, longest):
    if fixed():
        lengths = torch.tensor(lengths).pin_memory().cuda(non_blocking=True)
        return (torch.arange(longest, device="cuda") < lengths[:, None])[:, None, None]
    mask = torch.zeros(len(lengths), 1, longest, longest, dtype=torch.bool)
    for number, length in enumerate(lengths):
        mask[number, :, :, :length] = True
    return mask.cuda()  # FAULT


def encode(blocks, x, lengths):
    mask = collate(lengths, x.shape[1])
    for block in blocks:
        x = block(x, mask)
    return x


@torch.inference_mode()
def run():
    blocks = nn.ModuleList(Block() for _ in range(4)).cuda().bfloat16()
    x = torch.randn(16, 1024, 512, device="cuda", dtype=torch.bfloat16)
    lengths = [1024 - 32 * number for number in range(16)]
    for _ in steps():
        encode(blocks, x, lengths)


if __name__ == "__main__":
    run()
