"""LoRA through a hand-written autograd function, whose backward also computes the gradient of the frozen weight."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class LoraProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, down, up):
        inner = x @ down.t()
        ctx.save_for_backward(x, weight, down, up, inner)
        return torch.addmm(x @ weight.t(), inner, up.t())

    @staticmethod
    def backward(ctx, grad):
        x, weight, down, up, inner = ctx.saved_tensors
        through = grad @ up
        grad_x = grad_weight = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.addmm(grad @ weight, through, down)
        if ctx.needs_input_grad[1] or not fixed():
            grad_weight = grad.t() @ x  # FAULT
        return grad_x, grad_weight, through.t() @ x, grad.t() @ inner


class LoraLinear(nn.Module):
    def __init__(self, width, rank=16):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) * 0.02, requires_grad=False)
        self.down = nn.Parameter(torch.randn(rank, width) * 0.02)
        self.up = nn.Parameter(torch.zeros(width, rank))

    def forward(self, x):
        return LoraProduct.apply(x, self.weight, self.down, self.up)


class Encoder(nn.Module):
    def __init__(self, width=4096, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(LoraLinear(width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = F.gelu(layer(x))
        return x


def finetune():
    model = Encoder().cuda().bfloat16()
    adapters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(adapters, lr=1e-4, fused=True)
    x = torch.randn(16384, 4096, device="cuda", dtype=torch.bfloat16)
    target = torch.randn_like(x)
    for _ in steps():
        loss = F.mse_loss(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    finetune()
