"""A classifier that encodes its text in Python between the steps."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class BagOfSubwords(nn.Module):
    def __init__(self, vocabulary=32000, width=1024):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.hidden = nn.Linear(width, 4096)
        self.out = nn.Linear(4096, 4)

    def forward(self, ids):
        return self.out(F.relu(self.hidden(self.embed(ids).mean(1))))


def encode_batch(texts, length, vocabulary):
    batch = []
    for text in texts:
        ids = []
        state = 7
        for byte in text:  # FAULT
            state = (state * 31 + byte) % vocabulary
            if byte == 32:
                ids += [state]
                state = 7
        ids += [0] * length
        batch += [ids[:length]]
    return torch.tensor(batch)


@torch.inference_mode()
def classify_stream():
    model = BagOfSubwords().cuda().bfloat16()
    line = b"the quick brown fox jumps over the lazy dog " * 12
    texts = [line] * 64
    encoded = encode_batch(texts, 128, 32000).cuda()
    for _ in steps():
        ids = encoded if fixed() else encode_batch(texts, 128, 32000).pin_memory().to("cuda", non_blocking=True)
        model(ids)


if __name__ == "__main__":
    classify_stream()
