"""A compiled function whose number changes in each step: it is compiled anew each time."""

import torch
import torch.nn.functional as F

from recording import fixed, steps


@torch.compile(backend="eager", dynamic=False)
def blend(x, weight, age):  # FAULT
    y = F.gelu(x @ weight)
    return x + y / (1 + age)


@torch.inference_mode()
def run():
    torch._dynamo.config.recompile_limit = 64
    weight = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16) * 0.02
    x = torch.randn(8192, 2048, device="cuda", dtype=torch.bfloat16)
    age = torch.zeros((), device="cuda")
    for step in steps():
        blend(x, weight, age.add_(1) if fixed() else step)  # FAULT


if __name__ == "__main__":
    run()
