#!/usr/bin/env python3
"""Records the example traces of this folder. Needs a CUDA GPU and PyTorch.

    python3 examples/record/record.py OUT_DIR [NAME ...]

Each trace is written as OUT_DIR/NAME-h200.json.gz (the suffix is the GPU they were recorded on).
"""

import gzip
import os
import pathlib
import shutil
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from models import Llama, MoE

CACHE_LENGTH = 1040
BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
out_dir = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")


def save(prof, name):
    plain = pathlib.Path(f"{name}.json")  # relative: the trace keeps this name inside
    prof.export_chrome_trace(str(plain))
    with open(plain, "rb") as src, gzip.GzipFile(f"{plain}.gz", "wb", 9, mtime=0) as dst:
        shutil.copyfileobj(src, dst)
    plain.unlink()
    print(name, os.path.getsize(f"{plain}.gz"), "bytes", flush=True)


def llama(**kw):
    torch.manual_seed(0)
    return Llama(**kw).to("cuda", torch.bfloat16).eval()


def generating_llama(**kw):
    model = llama(**kw)
    model.make_cache(4, CACHE_LENGTH)
    return model, torch.randint(0, 32000, (4, 1024), device="cuda")


def decode_mask(position, length):
    return (torch.arange(length, device="cuda") <= position).view(1, 1, 1, length)


@torch.no_grad()
def generate(model, tokens, steps, length=CACHE_LENGTH):
    """One prefill of `tokens`, then `steps` single-token decodes over the KV cache."""
    s = tokens.shape[1]
    mask = torch.ones(s, length, dtype=torch.bool, device="cuda").tril().view(1, 1, s, length)
    with record_function("prefill"):
        last = model(tokens, torch.arange(s, device="cuda"), mask)[:, -1].argmax(-1)
    for i in range(steps):
        with record_function("decode"):
            pos = torch.tensor([s + i], device="cuda")
            torch.compiler.cudagraph_mark_step_begin()
            last = model(last[:, None], pos, decode_mask(pos, length))[:, -1].argmax(-1)
    torch.cuda.synchronize()


def record_llama():
    """The first example: with stacks and modules, so that a report names lines of models.py."""
    model, tokens = generating_llama()
    generate(model, tokens, 2)
    with profile(activities=BOTH, record_shapes=True, with_stack=True, with_modules=True) as prof:
        generate(model, tokens, 8)
    save(prof, "llama-h200")


def record_llama_stacks():
    model, tokens = generating_llama(layers=2)
    generate(model, tokens, 2)
    with profile(activities=BOTH, record_shapes=True, with_stack=True, with_modules=True) as prof:
        generate(model, tokens, 3)
    save(prof, "llama-stacks-h200")


def record_llama_compiled():
    model, tokens = generating_llama()
    compiled = torch.compile(model, mode="reduce-overhead")
    for _ in range(4):
        generate(compiled, tokens, 4)
    with profile(activities=BOTH, record_shapes=True) as prof:
        generate(compiled, tokens, 8)
    save(prof, "llama-compiled-h200")


def record_llama_inductor():
    """Compiled without CUDA graphs: every generated kernel is an event with its shapes."""
    model, tokens = generating_llama()
    compiled = torch.compile(model)
    for _ in range(3):
        generate(compiled, tokens, 4)
    with profile(activities=BOTH, record_shapes=True) as prof:
        generate(compiled, tokens, 8)
    save(prof, "llama-inductor-h200")


def train(model, step, name, steps=3, **kw):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    plan = schedule(wait=0, warmup=2, active=steps, repeat=1)
    with profile(activities=BOTH, record_shapes=True, schedule=plan, **kw) as prof:
        for _ in range(steps + 2):
            loss = step(model)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
        torch.cuda.synchronize()
    save(prof, name)


def record_train():
    torch.manual_seed(0)
    model = Llama(layers=4, dim=1024, heads=16, kv_heads=16, hidden=2816).cuda()
    tokens = torch.randint(0, 32000, (8, 513), device="cuda")
    pos = torch.arange(512, device="cuda")

    def step(model):
        with torch.autocast("cuda", torch.bfloat16):
            logits = model(tokens[:, :-1], pos)
        return F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())

    train(model, step, "train-h200")


def record_vision():
    import torchvision

    torch.manual_seed(0)
    model = torchvision.models.resnet18().cuda().to(memory_format=torch.channels_last)
    images = torch.randn(32, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (32,), device="cuda")

    def step(model):
        with torch.autocast("cuda", torch.bfloat16):
            return F.cross_entropy(model(images), labels)

    train(model, step, "vision-h200", steps=2)


@torch.inference_mode()
def record_moe():
    model = llama(layers=2, make_ffn=lambda: MoE(2048, 1408, experts=16, top_k=4))
    tokens, pos = torch.randint(0, 32000, (4, 512), device="cuda"), torch.arange(512, device="cuda")
    for _ in range(2):
        model(tokens, pos)
    with profile(activities=BOTH, record_shapes=True) as prof:
        for _ in range(3):
            with record_function("forward"):
                model(tokens, pos)
        torch.cuda.synchronize()
    save(prof, "moe-h200")


def ddp_rank(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(4)]).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model)
    x = torch.randn(64, 1024, device="cuda")

    def step(model):
        loss = model(x).square().mean()
        gathered = [torch.empty_like(loss) for _ in range(2)]
        dist.all_gather(gathered, loss.detach())
        return loss

    train(model, step, f"ddp-rank{rank}-h200", steps=2)
    dist.destroy_process_group()


def record_ddp():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(ddp_rank, (port,), nprocs=2)


RECORDINGS = {
    "llama": record_llama,
    "llama-compiled": record_llama_compiled,
    "llama-inductor": record_llama_inductor,
    "train": record_train,
    "llama-stacks": record_llama_stacks,
    "vision": record_vision,
    "moe": record_moe,
    "ddp": record_ddp,
}

if __name__ == "__main__":
    out_dir.mkdir(parents=True, exist_ok=True)
    os.chdir(out_dir)
    for name in sys.argv[2:] or RECORDINGS:
        RECORDINGS[name]()
