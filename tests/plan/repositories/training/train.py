import argparse
import time

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


def train_step(model, optimizer, batch, scaler):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(batch).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
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
    scaler = torch.amp.GradScaler("cuda")
    loader = DataLoader([torch.zeros(4096)] * 100, batch_size=args.batch_size)
    for step, batch in enumerate(loader):
        begin = time.time()
        loss = train_step(model, optimizer, batch.cuda(), scaler)
        print(f"step {step:d} loss: {loss.item():.4f} step time: {time.time() - begin:.3f} s")


if __name__ == "__main__":
    main()
