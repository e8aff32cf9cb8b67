import argparse
import time
import urllib.request


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=1919)
    parser.add_argument("--requests", type=int, default=32)
    args = parser.parse_args()
    for _ in range(args.requests):
        begin = time.time()
        urllib.request.urlopen(f"http://127.0.0.1:{args.port}/generate").read()
        print(f"latency: {1e3 * (time.time() - begin):.2f} ms")


if __name__ == "__main__":
    main()
