"""The mask of packed sequences is written segment by segment from Python, for each batch."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


def make_mask(lengths, ids):
    if fixed():
        return (ids[:, None] == ids[None, :])[None, None]
    size = sum(lengths)
    mask = torch.zeros(size, size, dtype=torch.bool, device="cuda")
    begin = 0
    for length in lengths:
        mask[begin : begin + length, begin : begin + length] = True  # FAULT
        begin += length
    return mask[None, None]


@torch.inference_mode()
def encode():
    lengths = [16] * 96
    ids = torch.arange(96, device="cuda").repeat_interleave(16)
    qkv = nn.Linear(512, 1536).cuda().bfloat16()
    x = torch.randn(1, sum(lengths), 512, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        mask = make_mask(lengths, ids)
        q, k, v = qkv(x).unflatten(-1, (3, 8, 64)).permute(2, 0, 3, 1, 4)
        F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


if __name__ == "__main__":
    encode()
