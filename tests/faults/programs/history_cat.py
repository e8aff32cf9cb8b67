"""Autoregressive frames: the history of outputs is concatenated anew for each frame."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class FrameModel(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def rollout(self, first, frames):
        if fixed():
            history = first.new_empty(first.size(0), frames + 64, first.size(2))
            history[:, :64] = first
            for step in range(frames):
                history[:, 64 + step] = torch.tanh(self.mix(history[:, 63 + step]))
            return history
        history = first
        for _ in range(frames):
            latest = torch.tanh(self.mix(history[:, -1:]))
            history = torch.cat([history, latest], dim=1)  # FAULT
        return history


@torch.inference_mode()
def imagine():
    model = FrameModel().cuda().bfloat16()
    first = torch.randn(512, 64, 2048, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        model.rollout(first, 10)


if __name__ == "__main__":
    imagine()
