"""A script whose variables are options, set by a file that it executes."""
import torch

batch_size = 12  # sequences of a micro batch
accumulation = 5 * 8
compile = True
out_dir = "out"
learning_rate = -1.5e-3
device: str = "cuda"
sizes = [1, 2]  # no option: not of a plain value
keys = [k for k, v in globals().items() if not k.startswith("_")]
exec(open("settings.py").read())
after = 3  # no option: set after the command line was read


def main():
    local = 7
    model = torch.nn.Linear(local, batch_size, device=device)
    return torch.compile(model) if compile else model


main()
