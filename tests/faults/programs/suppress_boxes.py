"""Non-maximum suppression that shrinks the list of boxes with a boolean index in each turn of its loop."""

import torch

from recording import fixed, steps

KEPT = 12


def overlap(box, boxes):
    corner = torch.maximum(box[:2], boxes[:, :2])
    far = torch.minimum(box[2:], boxes[:, 2:])
    inter = (far - corner).clamp(min=0).prod(dim=1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(dim=1)
    return inter / (area + (box[2:] - box[:2]).prod() - inter)


def suppress(boxes, scores):
    kept = []
    boxes = boxes[scores.argsort(descending=True)]
    alive = torch.ones(len(boxes), device=boxes.device)
    for _ in range(KEPT):
        if fixed():
            best = alive.argmax()
            kept.append(boxes[best])
            alive = alive * (overlap(boxes[best], boxes) < 0.5)
        else:
            kept.append(boxes[0])
            boxes = boxes[overlap(boxes[0], boxes) < 0.5]  # FAULT
    return torch.stack(kept)


@torch.inference_mode()
def run():
    torch.manual_seed(1)
    corner = torch.rand(4096, 2, device="cuda") * 900
    boxes = torch.cat([corner, corner + 20 + 60 * torch.rand(4096, 2, device="cuda")], dim=1)
    scores = torch.rand(4096, device="cuda")
    for _ in steps():
        suppress(boxes, scores)


if __name__ == "__main__":
    run()
