"""Inference that blocks on a queue which a slow producer thread fills."""

import queue
import threading
import time

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Producer(threading.Thread):
    def __init__(self, ready):
        super().__init__(daemon=True)
        self.ready = ready
        self.going = True

    def run(self):
        number = 0
        while self.going:
            if not fixed():
                time.sleep(0.006)
            try:
                self.ready.put(number, timeout=0.5)
            except queue.Full:
                pass
            number += 1


class Feed:
    def __init__(self):
        self.ready = queue.Queue(maxsize=4)
        self.producer = Producer(self.ready)
        self.producer.start()

    def next_number(self):
        return self.ready.get()  # FAULT


class Ranker(nn.Module):
    def __init__(self, width=2048):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.item = nn.Linear(width, width)

    def forward(self, x):
        return F.normalize(self.item(F.relu(self.query(x))), dim=-1)


@torch.inference_mode()
def serve():
    feed = Feed()
    model = Ranker().cuda().half()
    shards = torch.randn(4, 16384, 2048, device="cuda", dtype=torch.half)
    for _ in steps():
        model(shards[feed.next_number() % 4])
    feed.producer.going = False


if __name__ == "__main__":
    serve()
