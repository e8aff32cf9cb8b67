import torch

from plain_engine.runner import Runner


def main():
    runner = Runner(torch.nn.Linear(16, 16).cuda())
    out = runner.run_prefill(torch.zeros(8, 16, device="cuda"))
    for _ in range(32):
        out = runner.run_decode(out[-1:])
    print(out.sum().item())


if __name__ == "__main__":
    main()
