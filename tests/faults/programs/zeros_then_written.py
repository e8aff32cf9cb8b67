"""A buffer that is filled with zeros and then written as a whole."""

import torch

from recording import fixed, steps


def gather_parts(parts, length):
    make = torch.empty if fixed() else torch.zeros
    out = make(length, parts[0].shape[1], device="cuda", dtype=parts[0].dtype)  # FAULT
    at = 0
    for part in parts:
        out[at : at + len(part)] = part
        at += len(part)
    return out


@torch.inference_mode()
def run():
    parts = [torch.randn(16384, 2048, device="cuda", dtype=torch.half) for _ in range(4)]
    weight = torch.randn(2048, 64, device="cuda", dtype=torch.half)
    for _ in steps():
        gather_parts(parts, 65536) @ weight


if __name__ == "__main__":
    run()
