"""Near-twin of a thread that holds the interpreter: a writer thread that mostly waits for work."""

import queue
import threading

import torch
from torch import nn

from recording import steps


def write_log(lines):
    while True:
        line = lines.get()
        if line is None:
            return
        str(line)


@torch.inference_mode()
def serve():
    lines = queue.Queue()
    thread = threading.Thread(target=write_log, args=(lines,), daemon=True)
    thread.start()
    model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(12)]).cuda().bfloat16()
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    for step in steps(active=3):
        model(x)
        lines.put(step)
    lines.put(None)


if __name__ == "__main__":
    serve()
