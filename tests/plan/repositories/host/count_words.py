import argparse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("book")
    parser.add_argument("--threads", type=int, default=4)
    args = parser.parse_args()
    with open(args.book) as text:
        print(f"words: {len(text.read().split()):d}")


if __name__ == "__main__":
    main()
