#!/usr/bin/env python3
"""Each kernel of tiny-engine many times, so that `fathom record --counters` counts all of them.

    cd examples/tiny-engine && fathom record --torch --counters=full --replay -- python3 ../record/tiny_engine_ops.py
"""

import argparse
import os
import sys

sys.path.insert(0, os.getcwd())

import torch  # noqa: E402
from tiny_engine import activation, gather_rows, rms_norm, scatter_rows, softmax  # noqa: E402
from tiny_engine.__main__ import Engine  # noqa: E402
from tiny_engine.config import EngineConfig  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=150)
    parser.add_argument("--batch", type=int, default=256)
    options = parser.parse_args()
    config = EngineConfig(batch=options.batch, vocabulary=8192, cache_slots=8192)
    engine = Engine(config)
    tokens = torch.randint(0, config.vocabulary, (config.batch,), device="cuda")
    slots = torch.randperm(config.cache_slots, device="cuda", dtype=torch.int32)[: config.batch]
    engine.step(tokens, slots)
    x = gather_rows(engine.table, tokens)
    # In the order of a step, so that each finds in L2 what the one before it wrote.
    for _ in range(options.repeat):
        rows = gather_rows(engine.table, tokens)
        x = rms_norm(rows, engine.norm, config.epsilon)
        x = activation(x, False)
        scatter_rows(engine.cache, x, slots)
        softmax(x)
    torch.cuda.synchronize()
    print("sum", float(x.float().sum()))


if __name__ == "__main__":
    main()
