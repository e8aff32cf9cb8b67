"""A DataLoader whose collate function pads ragged samples in Python, in the main process."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from recording import fixed, steps


class Sentences(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        return list(range(index % 300 + 100))


def pad_batch(samples):
    width = 512
    rows = []
    for sample in samples:
        row = []
        for token in sample:  # FAULT
            row += [token * 7 % 30000]
        rows += [row + [0] * (width - len(row))]
    return torch.tensor(rows)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30000, 512)
        self.linear = nn.Linear(512, 512)

    def forward(self, ids):
        return self.linear(self.embed(ids)).mean(1)


@torch.inference_mode()
def run():
    workers = {"num_workers": 8, "prefetch_factor": 4} if fixed() else {"num_workers": 0}
    loader = DataLoader(Sentences(), batch_size=64, collate_fn=pad_batch, pin_memory=True, **workers)
    model = Encoder().cuda().bfloat16()
    for _, ids in zip(steps(), loader):  # FAULT
        model(ids.to("cuda", non_blocking=True))


if __name__ == "__main__":
    run()
