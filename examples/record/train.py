#!/usr/bin/env python3
"""A few training steps of a small Llama-shaped model: a plain program for `fathom record`.

    fathom record --torch -- python3 examples/record/train.py
"""

import argparse

import torch
import torch.nn.functional as F
from models import Llama


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch", type=int, default=8)
    options = parser.parse_args()
    torch.manual_seed(0)
    model = Llama(layers=options.layers, dim=1024, heads=16, kv_heads=16, hidden=2816).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    tokens = torch.randint(0, 32000, (options.batch, 513), device="cuda")
    positions = torch.arange(512, device="cuda")
    for _ in range(options.steps):
        with torch.autocast("cuda", torch.bfloat16):
            logits = model(tokens[:, :-1], positions)
        loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print("loss", round(loss.item(), 2), flush=True)


if __name__ == "__main__":
    main()
