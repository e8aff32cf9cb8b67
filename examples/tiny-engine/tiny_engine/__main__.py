import argparse

import torch

from . import activation, gather_rows, rms_norm, scatter_rows, softmax
from .config import EngineConfig


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tiny-engine", description="A toy decode step.")
    parser.add_argument("--batch", type=int, default=EngineConfig.batch, help="rows of a step")
    parser.add_argument("--hidden", type=int, default=EngineConfig.hidden, help="width of a row")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--activation", choices=["silu", "gelu"], default=EngineConfig.activation)
    parser.add_argument("--trace", help="write a profiler trace here")
    return parser.parse_args()


class Engine:
    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        options = {"device": "cuda", "dtype": torch.bfloat16}
        self.table = torch.randn(config.vocabulary, config.hidden, **options)
        self.weight = torch.randn(config.hidden, config.hidden, **options)
        self.norm = torch.ones(config.hidden, **options)
        self.cache = torch.zeros(config.cache_slots, config.hidden, **options)

    def step(self, tokens: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
        x = gather_rows(self.table, tokens)
        x = rms_norm(x, self.norm, self.config.epsilon)
        x = activation(x @ self.weight, self.config.activation == "gelu")
        scatter_rows(self.cache, x, slots)
        return softmax(x)


def main() -> None:
    arguments = parse_arguments()
    config = EngineConfig(hidden=arguments.hidden, activation=arguments.activation, batch=arguments.batch)
    engine = Engine(config)
    tokens = torch.randint(0, config.vocabulary, (config.batch,), device="cuda")
    slots = torch.randperm(config.cache_slots, device="cuda", dtype=torch.int32)[: config.batch]
    for _ in range(3):
        engine.step(tokens, slots)
    torch.cuda.synchronize()
    with torch.profiler.profile(record_shapes=True) as profile:
        for step in range(arguments.steps):
            with torch.profiler.record_function(f"step {step}"):
                engine.step(tokens, slots)
        torch.cuda.synchronize()
    if arguments.trace:
        profile.export_chrome_trace(arguments.trace)


if __name__ == "__main__":
    main()
