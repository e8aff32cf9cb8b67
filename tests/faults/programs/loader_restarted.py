"""Evaluation makes a new iterator over its loader for every short pass: the workers start again each time."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from recording import fixed, steps


@torch.inference_mode()
def evaluate(model, loader):
    right = torch.zeros((), device="cuda")
    for images, labels in loader:  # FAULT
        scores = model(images.cuda(non_blocking=True))
        right += (scores.argmax(1) == labels.cuda(non_blocking=True)).sum()
    return right


def main():
    data = TensorDataset(torch.randn(256, 512), torch.randint(0, 10, (256,)))
    options = dict(batch_size=64, num_workers=2, persistent_workers=fixed(), pin_memory=False)
    loader = DataLoader(data, **options)
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 10)).cuda()
    for _ in steps(warm=2, timed=6, block=3, profiler_warmup=1):
        evaluate(model, loader)


if __name__ == "__main__":
    main()
