#!/usr/bin/env python3
"""Requests of a Llama-shaped model: an eager prefill, then decode steps as replays of a CUDA graph.

    fathom record --pm-sampling -- python3 examples/record/serve.py
"""

import argparse

import torch
from models import Llama


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--requests", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(0)
    length = options.prompt + options.steps
    model = Llama(layers=options.layers).to("cuda", torch.bfloat16).eval()
    model.make_cache(options.batch, length)
    tokens = torch.randint(0, 32000, (options.batch, options.prompt), device="cuda")
    positions = torch.arange(options.prompt, device="cuda")
    mask = torch.ones(options.prompt, length, dtype=torch.bool, device="cuda").tril()[None, None]

    last = torch.zeros(options.batch, dtype=torch.long, device="cuda")
    position = torch.zeros(1, dtype=torch.long, device="cuda")

    def decode():
        seen = (torch.arange(length, device="cuda") <= position).view(1, 1, 1, length)
        last.copy_(model(last[:, None], position, seen)[:, -1].argmax(-1))
        position.add_(1)

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        decode()  # what libraries set up on first use cannot be captured
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        decode()

    for _ in range(options.requests):
        torch.cuda.nvtx.range_push("prefill")
        last.copy_(model(tokens, positions, mask)[:, -1].argmax(-1))
        position.fill_(options.prompt)
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_push("decode")
        for _ in range(options.steps):
            graph.replay()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        print("tokens", last.tolist()[:4], flush=True)


if __name__ == "__main__":
    main()
