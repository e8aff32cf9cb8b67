"""A batch is a dictionary of many small tensors, which are sent to the GPU one after the other."""

import torch
from torch import nn

from recording import fixed, steps


def send(batch):
    if fixed():
        whole = torch.stack(list(batch.values())).pin_memory().cuda(non_blocking=True)
        return dict(zip(batch, whole))
    return {name: value.cuda() for name, value in batch.items()}  # FAULT


@torch.inference_mode()
def serve():
    model = nn.Sequential(nn.Linear(80, 1024), nn.ReLU(), nn.Linear(1024, 1)).cuda()
    batch = {f"feature_{i}": torch.randn(4096) for i in range(80)}
    for _ in steps():
        columns = send(batch)
        model(torch.stack(list(columns.values()), 1))


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    serve()
