"""A thread that formats log lines in Python takes the interpreter's lock away from the thread that launches."""

import threading

import torch
from torch import nn

from recording import fixed, steps


def write_log(stop):
    lines = []
    while not stop.is_set():
        lines = [f"{i}: {i * 0.37:.3f} {i % 17:>5}" for i in range(2000)]  # FAULT
    return lines


@torch.inference_mode()
def serve():
    stop = threading.Event()
    if not fixed():
        threading.Thread(target=write_log, args=(stop,), daemon=True).start()
    model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(12)]).cuda().bfloat16()
    x = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
    try:
        for _ in steps(timed=10):
            model(x)
            torch.cuda.current_stream().synchronize()
    finally:
        stop.set()


if __name__ == "__main__":
    serve()
