"""Generation whose repetition penalty runs over the sequences and their tokens in Python."""

import torch
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


def penalize(scores, tokens, penalty=1.3):
    if fixed():
        old = scores.gather(1, tokens)
        return scores.scatter(1, tokens, torch.where(old < 0, old * penalty, old / penalty))
    for row in range(scores.shape[0]):
        seen = tokens[row].unique()  # FAULT
        old = scores[row, seen]
        scores[row, seen] = torch.where(old < 0, old * penalty, old / penalty)
    return scores


@torch.inference_mode()
def generate():
    model = nn.Sequential(*[Block(1024) for _ in range(4)]).cuda().bfloat16()
    table = nn.Embedding(32000, 1024).cuda().bfloat16()
    tokens = torch.randint(0, 32000, (12, 256), device="cuda")
    for _ in steps():
        hidden = model(table(tokens[:, -1]))
        scores = penalize((hidden @ table.weight.T).float(), tokens)
        tokens = torch.cat([tokens[:, 1:], scores.argmax(-1, keepdim=True)], 1)


if __name__ == "__main__":
    generate()
