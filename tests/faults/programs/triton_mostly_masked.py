"""A Triton kernel with a block of 4096 lanes for rows of 80 numbers: most lanes are masked off."""

import torch
import triton
import triton.language as tl
from torch import nn

from recording import fixed, steps


@triton.jit
def normalize_frames(source, result, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * width
    lane = tl.arange(0, BLOCK)
    inside = lane < width
    value = tl.load(source + row + lane, mask=inside, other=0.0)
    mean = tl.sum(value, axis=0) / width
    centered = tl.where(inside, value - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centered * centered, axis=0) / width + 1e-5)
    tl.store(result + row + lane, centered * scale, mask=inside)


class FrameNorm(nn.Module):
    def forward(self, frames):
        result = torch.empty_like(frames)
        count, width = frames.shape
        if fixed():
            normalize_frames[(count,)](frames, result, width, BLOCK=128, num_warps=1)
        else:
            normalize_frames[(count,)](frames, result, width, BLOCK=4096, num_warps=8)  # FAULT
        return result


class FrontEnd(nn.Module):
    def __init__(self, mels=80, width=256):
        super().__init__()
        self.norm = FrameNorm()
        self.project = nn.Linear(mels, width)

    def forward(self, frames):
        return self.project(self.norm(frames))


@torch.inference_mode()
def run():
    model = FrontEnd().cuda()
    frames = torch.randn(262144, 80, device="cuda")
    for _ in steps(active=3):
        model(frames)


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    run()
