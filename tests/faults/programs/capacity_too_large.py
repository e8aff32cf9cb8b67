"""Each expert gets room for all tokens, of which it fills an eighth: the products of the empty rows are thrown away."""

import torch
from torch import nn

from recording import fixed, steps


class Experts(nn.Module):
    def __init__(self, experts, width):
        super().__init__()
        self.up = nn.Parameter(torch.randn(experts, width, 4 * width) * 0.02)
        self.down = nn.Parameter(torch.randn(experts, 4 * width, width) * 0.02)

    def forward(self, x, expert, place, capacity):
        room = x.new_zeros(self.up.shape[0], capacity, x.shape[1])
        room[expert, place] = x
        room = torch.relu(torch.bmm(room, self.up))  # FAULT
        room = torch.bmm(room, self.down)
        return room[expert, place]


@torch.inference_mode()
def serve():
    experts, tokens = 8, 4096
    layer = Experts(experts, 1024).cuda().bfloat16()
    x = torch.randn(tokens, 1024, device="cuda", dtype=torch.bfloat16)
    expert = torch.arange(tokens, device="cuda") % experts
    place = torch.arange(tokens, device="cuda") // experts
    for _ in steps(active=3):
        layer(x, expert, place, tokens // experts if fixed() else tokens)


if __name__ == "__main__":
    serve()
