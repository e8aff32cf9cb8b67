"""Runs the programs beside this file on a GPU, writes OUT/traces.tar and OUT/times.json.

usage: python3 record.py OUT [--only NAME,NAME] [--seconds 220]      NAME: a program, or one of its recordings

Programs run one after another in a worker process. A worker that fails or hangs costs one program: the next worker
goes on behind it. Programs that need a process of their own (first use, collectives, compilers) come last.
"""

import argparse
import gc
import gzip
import json
import multiprocessing
import os
import re
import runpy
import select
import signal
import sys
import tarfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
sys.path[:0] = [str(PROGRAMS), str(HERE)]

OWN_PROCESS = ["first_use", "small_buckets", "reduce_every_micro_batch", "twin_large_micro_batches"]
OWN_PROCESS += ["recompiled_each_step", "clean_compiled", "compiled_with_breaks", "clean_compiled_training"]
OWN_PROCESS += ["loader_restarted", "metrics_reduced_one_by_one"]
OWN_PROCESS += ["allocator_cache_disabled", "block_excluded_from_compile", "objects_gathered_each_step"]
WITHOUT_STACKS = ["item_per_layer", "attention_written_out", "optimizer_per_parameter", "clean_training"]
# Also recorded with the profiler's events of waits (cuda_sync).
WITH_SYNC_EVENTS = ["streams_in_lockstep", "twin_streams_overlap", "copies_in_turns", "event_wait", "item_per_layer"]
# Also recorded without ranges of steps, as a server's loop.
WITHOUT_STEPS = ["timesteps_on_gpu", "clean_graph_decode", "kv_cache_cat"]
# Also recorded from the first step on, without a warm-up or ranges of steps: programs with their start.
WHOLE = ["crops_in_loop", "triton_few_rows", "padded_to_maximum", "twin_class_token_dropped", "tensors_printed"]
WHOLE += ["best_loss_compared", "twin_rays_in_large_chunks"]
JOB_SECONDS = 45


def list_jobs(only):
    names = sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "recording")
    names.sort(key=lambda name: (name in OWN_PROCESS, name == "clean_compiled", name))
    jobs = []
    for name in names:
        jobs.append({"name": name, "fixed": False, "stacks": True, "label": name})
        if not name.startswith(("twin_", "clean_")):
            jobs.append({"name": name, "fixed": True, "stacks": True, "label": name + "_fixed"})
        if name in WITHOUT_STACKS:
            jobs.append({"name": name, "fixed": False, "stacks": False, "label": name + "_nostacks"})
        if name in WITH_SYNC_EVENTS:
            jobs.append({"name": name, "fixed": False, "stacks": True, "sync_events": True, "label": name + "_waits"})
        if name in WITHOUT_STEPS:
            jobs.append({"name": name, "fixed": False, "stacks": True, "annotate": False, "label": name + "_nosteps"})
        if name in WHOLE:
            whole = {"fixed": False, "stacks": True, "whole": True, "annotate": False}
            jobs.append(whole | {"name": name, "label": name + "_whole"})
    jobs.sort(key=lambda job: job.get("whole", False))
    return [job for job in jobs if not only or job["name"] in only or job["label"] in only]


def is_alone(job):
    return job["name"] in OWN_PROCESS or job.get("whole", False)


def reset():
    import torch

    gc.collect()
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.benchmark = False
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.manual_seed(0)


def compress(trace, label):
    text = re.sub(r'("traceName": ")[^"]*"', rf'\g<1>{label}.json"', trace.read_text())
    trace.with_suffix(".json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    trace.unlink()
    return trace.with_suffix(".json.gz").stat().st_size


def too_long(*_):
    raise TimeoutError(f"over {JOB_SECONDS} s")


def run_job(job, out):
    import recording

    trace = out / (job["label"] + ".json")
    recording.state.__dict__.update(
        fixed=job["fixed"],
        stacks=job["stacks"],
        sync_events=job.get("sync_events", False),
        annotate=job.get("annotate", True),
        whole=job.get("whole", False),
        trace=str(trace),
        step_ms=None,
        blocks_ms=[],
    )
    result = dict(job)
    begin = time.perf_counter()
    signal.alarm(JOB_SECONDS)
    try:
        runpy.run_path(str(PROGRAMS / (job["name"] + ".py")), run_name="__main__")
        result["trace_bytes"] = compress(trace, job["label"])
    except BaseException:
        result["error"] = traceback.format_exc()[-1500:]
    finally:
        signal.alarm(0)
    result["step_ms"] = recording.state.step_ms
    result["blocks_ms"] = recording.state.blocks_ms
    result["wall_s"] = round(time.perf_counter() - begin, 2)
    return result


def work(jobs, out, pipe):
    signal.signal(signal.SIGALRM, too_long)
    multiprocessing.set_start_method("fork", force=True)
    for job in jobs:
        result = run_job(job, out)
        try:
            reset()
        except BaseException as error:
            result.setdefault("error", repr(error))
        os.write(pipe, (json.dumps(result) + "\n").encode())
        if "CUDA error" in result.get("error", ""):
            os._exit(1)
    os._exit(0)


def run_worker(jobs, out, deadline):
    """Results of the jobs that ended before the worker failed, hung or the time was over."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.close(reader)
        work(jobs, out, writer)
    os.close(writer)
    results, rest = [], b""
    last = time.monotonic()
    while len(results) < len(jobs):
        wait = min(deadline, last + JOB_SECONDS + 15) - time.monotonic()
        if wait <= 0 or not select.select([reader], [], [], wait)[0]:
            break
        part = os.read(reader, 1 << 16)
        if not part:
            break
        rest += part
        *lines, rest = rest.split(b"\n")
        for line in lines:
            results.append(json.loads(line))
            last = time.monotonic()
            report(results[-1])
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    os.waitpid(child, 0)
    os.close(reader)
    return results


def report(result):
    step = result["step_ms"]
    print(
        f"{result['label']:32} {'-' if step is None else f'{step:9.3f}'} ms  "
        f"{result.get('trace_bytes', 0):7} B  {result['wall_s']:5.1f} s",
        result.get("error", "").replace("\n", "\n    "),
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=220)
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    work_folder = options.out / "work"
    work_folder.mkdir(parents=True, exist_ok=True)
    import torch  # once, before the workers are forked; it must not touch the GPU here

    print("torch", torch.__version__, "python", sys.version.split()[0], flush=True)
    results = []
    jobs = list_jobs(set(filter(None, options.only.split(","))))
    while jobs and time.monotonic() < deadline:
        count = 1
        if not is_alone(jobs[0]):
            count = next((i for i, job in enumerate(jobs) if is_alone(job)), len(jobs))
        done = run_worker(jobs[:count], work_folder, deadline)
        results += done
        if len(done) < count:
            lost = jobs[len(done)]
            results.append(lost | {"error": "the worker ended or hung", "step_ms": None, "wall_s": 0})
            report(results[-1])
            done = done + [lost]
        jobs = jobs[len(done) :]
    for job in jobs:
        print("not reached:", job["label"])
    (options.out / "times.json").write_text(json.dumps(results, indent=1))
    with tarfile.open(options.out / "traces.tar", "w") as archive:
        for trace in sorted(work_folder.glob("*.json.gz")):
            archive.add(trace, trace.name)
            trace.unlink()
    for left in work_folder.iterdir():
        left.unlink()
    work_folder.rmdir()


if __name__ == "__main__":
    main()
