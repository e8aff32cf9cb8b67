import os
from dataclasses import dataclass


@dataclass
class ModelConfig:
    hidden: int = 4096
    vocabulary: int = 32000
    activation: str = "silu"


@dataclass
class EngineConfig(ModelConfig):
    batch: int = 64
    cache_slots: int = 65536
    epsilon: float = 1e-6


# Where the compiled kernels are kept.
BUILD_DIR = os.environ.get("TINY_ENGINE_BUILD_DIR", "/tmp/tiny_engine")
