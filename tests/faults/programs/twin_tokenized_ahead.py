"""Near-twin of tokenizing in the loop: a thread prepares the next batch while the GPU is busy with long steps."""

import queue
import threading

import torch
from torch import nn

from recording import steps


def prepare(batches, stop):
    while not stop.is_set():
        rows = [[(i * j) % 5000 for j in range(64)] for i in range(64)]
        batches.put(torch.tensor(rows).pin_memory())


@torch.inference_mode()
def serve():
    batches, stop = queue.Queue(maxsize=4), threading.Event()
    threading.Thread(target=prepare, args=(batches, stop), daemon=True).start()
    table = nn.Embedding(5000, 2048).cuda().bfloat16()
    model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(2)] * 80).cuda().bfloat16()
    for _ in steps():
        tokens = batches.get().cuda(non_blocking=True)
        model(table(tokens))
    stop.set()
    batches.get()


if __name__ == "__main__":
    serve()
