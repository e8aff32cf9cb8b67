import logging

import torch

from engine.radix_cache import RadixCache

logger = logging.getLogger(__name__)


class Scheduler:
    def __init__(self):
        self.waiting_queue = []
        self.running_batch = []
        self.cache = RadixCache()
        self.max_running_requests = 256

    def schedule(self):
        while self.waiting_queue and len(self.running_batch) < self.max_running_requests:
            self.running_batch.append(self.waiting_queue.pop())
        return self.running_batch

    def preempt(self, request):
        self.running_batch.remove(request)
        self.waiting_queue.append(request)

    def forward_batch(self, batch):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            pass
        graph.replay()

    def run(self, prompt):
        batch = self.schedule()
        hit_rate = self.cache.match_prefix(prompt)
        self.forward_batch(batch)
        logger.info(f"Decode batch. #running-req: {len(batch):d}, cache hit rate: {hit_rate:.2f}")
        return batch
