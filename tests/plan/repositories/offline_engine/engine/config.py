from dataclasses import dataclass


@dataclass
class Config:
    model: str
    max_num_seqs: int = 256
    kvcache_block_size: int = 64
    enforce_eager: bool = False
