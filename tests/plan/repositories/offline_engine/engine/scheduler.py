from collections import deque

from engine.block_manager import BlockManager
from engine.config import Config


class Scheduler:
    def __init__(self, config: Config):
        self.max_num_seqs = config.max_num_seqs
        self.blocks = BlockManager(config.kvcache_block_size)
        self.waiting = deque()
        self.running = deque()

    def add(self, seq):
        self.waiting.append(seq)

    def schedule(self):
        while self.waiting and len(self.running) < self.max_num_seqs:
            seq = self.waiting.popleft()
            self.blocks.allocate(seq)
            self.running.append(seq)
        return list(self.running)

    def preempt(self, seq):
        self.blocks.release(seq)
        self.waiting.appendleft(seq)
