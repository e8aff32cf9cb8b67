#!/usr/bin/env python3
"""Writes traces of several ranks with known lateness, for `fathom analyze DIR --together`.

    bench/make_ranks.py DIR RANKS COLLECTIVES [--late MICROS]

Each collective is an all-reduce behind four matrix products; the last rank's products take longer by --late in all. Every
clock is ahead of the one before by 137.5 us. Steps have 20 collectives.
"""
import argparse
import gzip
import json
import os
import random

PER_STEP = 20


def rank_events(rank, ranks, collectives, late):
    jitter = random.Random(rank)
    ahead = 137.5 * rank
    own = late if rank == ranks - 1 else 0.0
    events, time, number = [], 1000.0, 1

    def add(category, name, start, duration, thread, args, process=1):
        events.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread,
                       "ts": round(start + ahead, 3), "dur": round(duration, 3), "args": args})

    def work(op, kernel, start, duration, stream, more):
        nonlocal number
        add("cpu_op", op, start - 5, 4, 11, {"External id": number})
        add("cuda_runtime", "cudaLaunchKernel", start - 4, 2, 11, {"correlation": number})
        add("kernel", kernel, start, duration, stream,
            {"device": 0, "stream": stream, "correlation": number, **more}, 0)
        number += 1

    for i in range(collectives):
        if i % PER_STEP == 0:
            begin = time
        for k in range(4):
            work("aten::mm", f"sm90_gemm_{k}", time, 100 + own / 4, 7, {})
            time += 102 + own / 4
        end = time + (late - own) + 300
        work("record_param_comms", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", time, end - time + jitter.random() * 3, 20,
             {"Collective name": "allreduce", "In msg nelems": 3670016, "Out msg nelems": 3670016, "Group size": ranks,
              "dtype": "BFloat16", "Process Group Name": "0", "Process Group Description": "default_pg",
              "Process Group Ranks": str(list(range(ranks))), "Seq": i})
        time = end + 10
        if i % PER_STEP == PER_STEP - 1:
            add("user_annotation", f"ProfilerStep#{i // PER_STEP}", begin - 6, time - begin - 2, 11, {})
    return events


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("ranks", type=int)
    parser.add_argument("collectives", type=int)
    parser.add_argument("--late", type=float, default=200.0)
    a = parser.parse_args()
    os.makedirs(a.directory, exist_ok=True)
    for rank in range(a.ranks):
        trace = {"schemaVersion": 1,
                 "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85000000000,
                                       "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
                 "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": a.ranks},
                 "traceEvents": rank_events(rank, a.ranks, a.collectives, a.late)}
        with gzip.open(os.path.join(a.directory, f"rank{rank}.json.gz"), "wt", compresslevel=1) as out:
            json.dump(trace, out)


if __name__ == "__main__":
    main()
