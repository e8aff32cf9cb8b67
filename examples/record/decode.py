#!/usr/bin/env python3
"""A Llama-shaped model generates a few tokens: a plain program for `fathom record`.

    fathom record --torch -- python3 examples/record/decode.py
"""

import argparse

import torch
from models import Llama


@torch.no_grad()
def decode_step(model, last, position, mask):
    return model(last[:, None], position, mask)[:, -1].argmax(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--prompt", type=int, default=256, help="tokens of the prefill")
    parser.add_argument("--graphs", action="store_true", help="replay the decode step as a CUDA graph")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(0)
    model = Llama(layers=options.layers).to("cuda", torch.bfloat16).eval()
    tokens = torch.randint(0, 32000, (options.batch, options.prompt), device="cuda")
    length = options.prompt + max(64, options.steps)  # of the KV cache
    step = decode_step
    if options.graphs:
        step = torch.compile(decode_step, mode="reduce-overhead")
    for _ in range(options.repeat):
        with torch.no_grad():
            model.make_cache(options.batch, length)
            s = tokens.shape[1]
            mask = torch.ones(s, length, dtype=torch.bool, device="cuda").tril().view(1, 1, s, length)
            torch.cuda.nvtx.range_push("prefill")
            last = model(tokens, torch.arange(s, device="cuda"), mask)[:, -1].argmax(-1)
            torch.cuda.nvtx.range_pop()
        for i in range(options.steps):
            torch.cuda.nvtx.range_push("decode")
            position = torch.tensor([s + i], device="cuda")
            seen = (torch.arange(length, device="cuda") <= position).view(1, 1, 1, length)
            last = step(model, last, position, seen).clone()
            torch.cuda.nvtx.range_pop()
        print("tokens", last.tolist(), flush=True)


if __name__ == "__main__":
    main()
