import argparse
import time

import torch
import torch.utils.data
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


class RowDataset(torch.utils.data.Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return torch.zeros(4096)


def train_step(model, optimizer, batch):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(batch).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    model = DistributedDataParallel(torch.nn.Linear(4096, 4096).cuda())
    if args.compile:
        model = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    loader = DataLoader(RowDataset(), batch_size=args.batch_size)
    for step, batch in enumerate(loader):
        begin = time.time()
        loss = train_step(model, optimizer, batch.cuda())
        print(f"step {step:d} loss: {loss.item():.4f} step time: {time.time() - begin:.3f} s")


if __name__ == "__main__":
    main()
