#!/usr/bin/env python3
"""Records what --capture is tested with: traces of a graph's capture and of its replays, on a GPU.

    tests/capture/record.py FOLDER

block: one graph on one stream. decode: two graphs of one program (batches of 1 and 4), replayed in turns. fork: a capture
with work on two streams. other: another program. X-capture has the capture alone, X-warm a run before it too.
"""

import sys

import torch
import torch.nn.functional as F

HIDDEN, HEADS = 512, 8


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(HIDDEN), torch.nn.LayerNorm(HIDDEN)
        self.qkv, self.out = torch.nn.Linear(HIDDEN, 3 * HIDDEN), torch.nn.Linear(HIDDEN, HIDDEN)
        self.up, self.down = torch.nn.Linear(HIDDEN, 4 * HIDDEN), torch.nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, s, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, s, HIDDEN))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Forked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.Linear(HIDDEN, HIDDEN)

    def forward(self, x):
        side, main = torch.cuda.Stream(), torch.cuda.current_stream()
        side.wait_stream(main)
        left = torch.relu(self.left(x))
        with torch.cuda.stream(side):
            right = torch.tanh(self.right(x)) * 2
        main.wait_stream(side)
        return left + right


class Other(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(16, 16, 3, padding=1)

    def forward(self, x):
        return torch.softmax(self.conv(x).relu().flatten(1), -1)


def profiled(path, work):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, record_shapes=True) as profiler:
        work()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(path)


@torch.no_grad()
def main(folder):
    torch.manual_seed(0)

    def capture(model, x):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(x)
        return graph, out

    model = torch.nn.Sequential(Block(), Block()).cuda().bfloat16()
    forked, other = Forked().cuda().bfloat16(), Other().cuda()
    inputs = {
        "block": (model, [torch.randn(2, 256, HIDDEN, device="cuda", dtype=torch.bfloat16)]),
        "decode": (model, [torch.randn(b, 64, HIDDEN, device="cuda", dtype=torch.bfloat16) for b in (1, 4)]),
        "fork": (forked, [torch.randn(1024, HIDDEN, device="cuda", dtype=torch.bfloat16)]),
        "other": (other, [torch.randn(8, 16, 64, 64, device="cuda")]),
    }
    for name, (net, xs) in inputs.items():
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for x in xs:
                for _ in range(3):
                    net(x)
        torch.cuda.synchronize()
        graphs = []
        profiled(f"{folder}/{name}-capture.json.gz", lambda: graphs.extend(capture(net, x) for x in xs))

        def warm():
            for x in xs:
                net(x)
            torch.cuda.synchronize()
            graphs.clear()
            graphs.extend(capture(net, x) for x in xs)

        profiled(f"{folder}/{name}-warm.json.gz", warm)
        for graph, _ in graphs:
            graph.replay()
        torch.cuda.synchronize()

        def replay():
            for _ in range(3):
                for graph, _ in graphs:
                    graph.replay()

        profiled(f"{folder}/{name}-replay.json.gz", replay)
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
