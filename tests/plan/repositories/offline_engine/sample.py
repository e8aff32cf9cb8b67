import torch

from engine import LLM

if __name__ == "__main__":
    print(LLM("small").generate(["once upon a time"]), torch.cuda.memory_allocated())
