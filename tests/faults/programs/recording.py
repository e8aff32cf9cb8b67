"""What the programs share: warm-up steps, timed steps without the profiler, then a recording of a few steps.

A program writes `for step in steps():` around its loop body. record.py sets `state` before it runs a program.
"""

import time
from types import SimpleNamespace

import torch
from torch.profiler import ProfilerActivity, profile, schedule

state = SimpleNamespace(fixed=False, trace="", stacks=True, sync_events=False, annotate=True, step_ms=None, blocks_ms=[])
state.whole = False


def fixed():
    """Whether the repaired variant is wanted."""
    return state.fixed


def _write(profiler):
    profiler.export_chrome_trace(state.trace)


def _config():
    if not state.sync_events:
        return None
    return torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)


def steps(active=2, warm=4, timed=20, block=5, profiler_warmup=2):
    """Yields step numbers. Blocks of steps are timed with the GPU drained at both ends; their median counts."""
    number = 0
    if state.whole:  # a program with its start, as a recorder of programs sees it
        warm, timed, profiler_warmup, active = 0, 0, 0, 20
    for _ in range(warm):
        yield number
        number += 1
    torch.cuda.synchronize()
    blocks = []
    for _ in range(timed // block):
        begin = time.perf_counter()
        for _ in range(block):
            yield number
            number += 1
        torch.cuda.synchronize()
        blocks.append((time.perf_counter() - begin) * 1e3 / block)
    if blocks:
        state.blocks_ms = [round(value, 4) for value in blocks]
        ordered = sorted(blocks)
        middle = len(ordered) // 2
        state.step_ms = (ordered[middle] + ordered[~middle]) / 2
    if not state.trace:
        return
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=0, warmup=profiler_warmup, active=active, repeat=1) if state.annotate else None,
        record_shapes=True,
        with_stack=state.stacks,
        with_modules=state.stacks,
        experimental_config=_config(),
        on_trace_ready=_write,
    ) as profiler:
        for _ in range(profiler_warmup + active):
            yield number
            number += 1
            if state.annotate:  # without, the trace has no ranges of steps
                profiler.step()
