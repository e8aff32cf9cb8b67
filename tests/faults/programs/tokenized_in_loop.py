"""A classifier for text that tokenizes its requests in the serving loop, right before the model runs."""

import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn

from recording import fixed, steps

WORDS = ["".join(random.choices("abcdefghij", k=6)) for _ in range(5000)]


def encode(tokenizer, texts):
    rows = [tokenizer.encode(text).ids for text in texts]  # FAULT
    return torch.tensor(rows).pin_memory().cuda(non_blocking=True)


@torch.inference_mode()
def serve():
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token=WORDS[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    texts = [" ".join(random.choices(WORDS, k=256)) for _ in range(64)]
    table = nn.Embedding(5000, 768).cuda().bfloat16()
    layer = nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True).cuda().bfloat16().eval()
    ready = encode(tokenizer, texts)
    for _ in steps(active=3):
        tokens = ready if fixed() else encode(tokenizer, texts)
        layer(table(tokens)).mean(1)


if __name__ == "__main__":
    serve()
