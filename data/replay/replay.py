#!/usr/bin/env python3
"""Runs one PyTorch operator again with the arguments that a trace recorded, and compares times.

    python3 replay.py                 every case: recorded against replayed kernel time
    python3 replay.py --case 3        one of them
    python3 replay.py --cold          with nothing of the inputs in the GPU's L2 cache
    python3 replay.py --hot           with the same tensors again and again
    python3 replay.py --json          for programs

Needs PyTorch with a CUDA or HIP device and nothing else. The tensors have the recorded shapes,
types and strides; their contents are random, but valid where they are indices. Only the block
between BEGIN and END below was generated from the trace: it holds literals and no code.

Time. A trace records how long the kernels of a call kept the GPU busy, without the launch. The same
is measured here, by the same means: torch.profiler's kernel times, overlapping kernels counted
once. --events measures with device events around many launches instead, for builds of PyTorch
without a working profiler; for kernels shorter than their launch it reads too much.

The L2 cache. In the program, what the op before had just written was in the cache, and weights, KV
caches and saved activations, last used a layer or a step ago, were not. That is what is set up
before each call: the cache is evicted, then the input that was fresh is written again by an op that
reads two tensors of its size. Which input that is, a trace does not say: fresh_arguments below is
a rule. In trials with 25 kernels of the example traces on an H200 this came nearer to the recorded
times than --hot, under which kernels on 10 to 30 MB ran up to 40 % too fast, and --cold, under which
short ones ran a third too slow.
"""

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import warnings

# BEGIN: generated from the trace
OP = "aten::mm"
TRACE = "none"
GPU = ""
LEFT_OUT = {"cases": 0, "share": 0.0}
CASES = []
# END: generated from the trace

# PyTorch's numbers for what a trace records as integers.
DTYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32",
    7: "float64", 8: "complex32", 9: "complex64", 10: "complex128", 11: "bool", 15: "bfloat16",
    23: "float8_e5m2", 24: "float8_e4m3fn", 25: "float8_e5m2fnuz", 26: "float8_e4m3fnuz",
    27: "uint16", 28: "uint32", 29: "uint64",
}
LAYOUTS = {0: "strided", 1: "sparse_coo"}
MEMORY_FORMATS = {0: "contiguous_format", 1: "preserve_format", 2: "channels_last", 3: "channels_last_3d"}

# Arguments that are variances, roots or counts: a negative number in them makes nonsense or NaN.
POSITIVE_ARGUMENTS = {
    "running_var", "save_var", "save_invstd", "invstd", "rstd", "var", "exp_avg_sqs",
    "max_exp_avg_sqs", "state_steps", "total_weight",
}
# Ops that are defined for positive numbers only.
POSITIVE_OPS = {"rsqrt", "sqrt", "log", "log2", "log10", "log1p", "pow", "lgamma", "digamma", "xlogy"}
# Ops of which only one input was written just before; the others are weights, caches or were saved
# by the forward pass. Its place among the tensor arguments is 0 where FRESH_INPUT does not say.
FRESH_INPUT = {"addmm": 1, "addbmm": 1, "baddbmm": 1, "addmv": 1}
ONE_FRESH_INPUT = (
    "mm", "bmm", "mv", "matmul", "linear", "_scaled_mm", "conv", "attention", "embedding",
    "index_select", "gather", "batch_norm", "layer_norm", "rms_norm", "_backward",
)
# Ops that overwrite their first argument without reading it.
OVERWRITING = ("copy", "fill", "zero", "index_copy")
# Several inputs smaller than this stay in the cache together, whatever comes between.
SMALL = 1 << 20

REPETITIONS, WARM_UP = 20, 3
MARKER = "fathom replay"


class CannotReplay(Exception):
    """A case that this PyTorch, or anyone, cannot build or run; the text says why."""


# ---- Tensors ---------------------------------------------------------------------------------


def storage_size(dims, strides):
    if any(d == 0 for d in dims):
        return 0
    return 1 + sum((d - 1) * s for d, s in zip(dims, strides))


def empty_tensor(torch, spec, device):
    """A tensor of exactly the recorded shape, type and strides, on the GPU or where `place` says."""
    dtype = getattr(torch, spec["dtype"], None)
    if dtype is None:
        raise CannotReplay(f"this PyTorch has no type {spec['dtype']}")
    dims, strides = spec["dims"], spec["strides"]
    place = spec.get("place", "device")
    storage = torch.empty(
        storage_size(dims, strides), dtype=dtype,
        device=device if place == "device" else "cpu",
        pin_memory=place == "pinned" and device.type != "cpu")
    tensor = torch.as_strided(storage, dims, strides)
    if tuple(tensor.shape) != tuple(dims) or tensor.dtype != dtype:
        raise CannotReplay(f"built {tuple(tensor.shape)} {tensor.dtype}, recorded {dims} {dtype}")
    if tuple(tensor.stride()) != tuple(strides):
        raise CannotReplay(f"built strides {tuple(tensor.stride())}, recorded {strides}")
    return tensor, storage


def fill(torch, storage, role):
    """Fills the storage, not the view: a view with overlapping elements cannot be written."""
    dtype, n = storage.dtype, storage.numel()
    if dtype == torch.bool:
        storage.copy_(torch.randint(0, 2, (n,), device=storage.device, dtype=torch.uint8) > 0)
    elif dtype.is_floating_point or dtype.is_complex:
        wide = torch.randn(n, device=storage.device, dtype=torch.complex64 if dtype.is_complex else torch.float32)
        if role.get("positive"):
            wide = wide.abs() * 0.25 + 0.5
        if dtype.itemsize == 1:
            wide = wide.clamp(-4, 4)
        storage.copy_(wide.to(dtype))
    elif "values" in role:
        storage.copy_(role["values"](n))
    else:
        below = max(1, role.get("below", 2))
        if role.get("distinct") and n <= below:
            # What masks and sorts give: ascending and each once. Indices that repeat would make
            # the writes collide.
            chosen = torch.randperm(below, device=storage.device)[:n].sort().values
            storage.copy_(chosen.to(dtype))
        else:
            storage.copy_(torch.randint(0, below, (n,), device=storage.device, dtype=torch.int64).to(dtype))


# ---- What an integer tensor may hold ---------------------------------------------------------


def size_of(specs, name, dim):
    spec = specs.get(name)
    if not spec or spec["kind"] != "tensor" or not spec["dims"]:
        return None
    return spec["dims"][dim] if -len(spec["dims"]) <= dim < len(spec["dims"]) else None


def index_role(op, name, specs, place=0):
    """Bounds of the integer tensor argument `name`; indices have to lie inside what they index."""
    def value(argument, default):
        spec = specs.get(argument)
        return spec["value"] if spec and spec["kind"] == "value" and spec["value"] is not None else default

    below = None
    if "embedding" in op and name in ("indices", "input"):
        below = value("num_weights", None) or size_of(specs, "weight", 0)
    elif op.startswith("index") and name == "indices":
        below = size_of(specs, "self", place)
    elif name in ("index", "indices") and "dim" in specs:
        below = size_of(specs, "self", value("dim", 0))
        if below is None and "sizes" in specs:
            below = (value("sizes", None) or [2])[value("dim", 0)]
    elif name == "target":
        below = size_of(specs, "self", 1) or size_of(specs, "self", -1)
    elif name == "index" and "self" in specs and specs["self"]["kind"] == "tensor":
        below = math.prod(specs["self"]["dims"])
    if below is None and ("index" in name or "indices" in name or "idx" in name):
        sizes = [d for s in specs.values() if s and s["kind"] == "tensor" and s.get("place") != "number"
                 for d in s["dims"]]
        below = min(sizes, default=2)
    writes = any(word in op for word in ("copy", "add", "put", "scatter", "fill"))
    return {"below": 2 if below is None else below, "distinct": writes}


def tensor_role(torch, op, name, spec, specs, place=0):
    positive = name in POSITIVE_ARGUMENTS or op.rstrip("_") in POSITIVE_OPS
    if positive:
        return {"positive": True}
    if name.startswith(("cu_seqlens", "cum_seq")):
        total = size_of(specs, "query", 0) or size_of(specs, "q", 0) or 1
        return {"values": lambda n: torch.linspace(0, total, n, dtype=torch.float64).long()}
    if spec["dtype"].startswith(("int", "uint")):
        return index_role(op, name, specs, place)
    return {}


# ---- From the recorded arguments to a call ---------------------------------------------------


def base_type(argument):
    """'Tensor', 'List[int]', 'number', …, and whether None is allowed."""
    kind = str(getattr(argument, "real_type", argument.type))
    if kind.startswith("Optional[") and kind.endswith("]"):
        return kind[len("Optional["):-1], True
    return kind, False


def acceptance(argument, spec):
    """How well a recorded argument fits one of the schema: None where it does not."""
    kind, optional = base_type(argument)
    if spec["kind"] == "tensor":
        return 2 if kind == "Tensor" else None
    if spec["kind"] == "tensors":
        return 2 if kind in ("List[Tensor]", "List[Optional[Tensor]]") else None
    value = spec["value"]
    if value is None:
        if optional or kind in ("Generator", "Device", "Layout", "Stream"):
            return 2
        return 1 if argument.has_default_value() else None
    if isinstance(value, bool):
        return {"bool": 2, "number": 1}.get(kind)
    if isinstance(value, int):
        return {"int": 2, "SymInt": 2, "number": 2, "float": 1, "ScalarType": 2, "Layout": 2,
                "MemoryFormat": 2, "bool": None}.get(kind)
    if isinstance(value, float):
        return {"float": 2, "number": 2}.get(kind)
    if value == "nan":  # which Python has no literal for
        return {"float": 2, "number": 2}.get(kind)
    if isinstance(value, list):
        wanted = {"List[int]": int, "List[SymInt]": int, "List[float]": (int, float), "List[bool]": bool,
                  "List[number]": (bool, int, float)}.get(kind)
        if wanted is None or not all(isinstance(item, wanted) for item in value):
            return None
        return 1 if wanted is int and any(isinstance(item, bool) for item in value) else 2
    return {"str": 2, "Device": 2}.get(kind)


def matching_overloads(torch, name, specs):
    """The overloads of the op that take these arguments, the best fitting first."""
    namespace, _, rest = name.partition("::")
    op_name, _, overload_name = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), op_name, None)
    if packet is None:
        raise CannotReplay(f"this PyTorch has no operator {name}; it comes from an extension: import "
                           f"the library that registers it at the top of this file")
    found = []
    for overload in packet.overloads():
        if overload_name and overload != overload_name:
            continue
        schema = getattr(packet, overload)._schema
        if len(schema.arguments) < len(specs):
            continue
        if not all(a.has_default_value() for a in schema.arguments[len(specs):]):
            continue
        scores = [acceptance(a, s) for a, s in zip(schema.arguments, specs)]
        if None in scores:
            continue
        missing = len(schema.arguments) - len(specs)
        found.append((missing, -sum(scores), overload, getattr(packet, overload)))
    found.sort(key=lambda entry: entry[:3])
    if not found:
        schemas = "; ".join(str(getattr(packet, o)._schema) for o in packet.overloads())
        raise CannotReplay(f"no overload of {name} takes the recorded arguments: the trace leaves out "
                           f"what an argument was (lists of optional tensors, lists of more than 30). "
                           f"There are: {schemas}")
    return [entry[3] for entry in found]


def plain_value(torch, argument, value, device):
    kind, _ = base_type(argument)
    if kind == "Device":
        return torch.device("cpu") if value == "cpu" else device
    if value is None or isinstance(value, bool):
        return argument.default_value if value is None and argument.has_default_value() else value
    for names, type_name, argument_name in ((DTYPES, "ScalarType", "dtype"), (LAYOUTS, "Layout", "layout"),
                                            (MEMORY_FORMATS, "MemoryFormat", "memory_format")):
        if (kind == type_name or argument.name == argument_name) and isinstance(value, int):
            if value not in names:
                raise CannotReplay(f"unknown {argument.name} {value}")
            return getattr(torch, names[value])
    if kind in ("float", "number") and value == "nan":
        return math.nan
    if kind == "float" and isinstance(value, int):
        return float(value)
    return value


class Call:
    """An overload with its arguments built: positional ones and keywords."""

    def __init__(self, torch, overload, specs, device):
        self.torch, self.overload, self.device = torch, overload, device
        self.op = overload._schema.name.partition("::")[2]
        self.tensors = []  # (argument's name, tensor, its storage), in order
        self.sources = None  # what Cache makes the fresh inputs from
        self.positional, self.keywords = [], {}
        arguments = overload._schema.arguments
        by_name = {a.name: s for a, s in zip(arguments, specs)}
        for argument, spec in zip(arguments, specs):
            built = self.build(argument, spec, by_name)
            if argument.kwarg_only:
                self.keywords[argument.name] = built
            else:
                self.positional.append(built)
        self.repair(by_name)

    def build(self, argument, spec, by_name):
        if spec["kind"] == "tensor":
            return self.build_tensor(argument.name, spec, by_name)
        if spec["kind"] == "tensors":
            return [self.build_tensor(argument.name, item, by_name, place)
                    for place, item in enumerate(spec["items"])]
        return plain_value(self.torch, argument, spec["value"], self.device)

    def build_tensor(self, name, spec, by_name, place=0):
        role = tensor_role(self.torch, self.op, name, spec, by_name, place)
        if spec.get("place") == "number":
            # A Python number, which PyTorch shows as a tensor without dimensions.
            return {"bool": True, "int64": 1}.get(spec["dtype"], 0.5)
        tensor, storage = empty_tensor(self.torch, spec, self.device)
        fill(self.torch, storage, role)
        self.tensors.append((name, tensor, storage))
        return tensor

    def repair(self, by_name):
        """Arguments that only make sense as another op's result."""
        if self.op == "max_pool2d_with_indices_backward":
            _, image, *window, indices = self.positional
            pooled = self.torch.ops.aten.max_pool2d_with_indices(image, *window)
            indices.copy_(pooled[1])

    def written(self):
        """Names of the arguments that the op writes."""
        return {a.name for a in self.overload._schema.arguments
                if a.alias_info is not None and a.alias_info.is_write}

    def fresh_arguments(self):
        """Storages that the ops before had just written, so that they were in the cache."""
        bare, written = self.op.strip("_"), self.written()
        inputs = [entry for entry in self.tensors if entry[2].device.type != "cpu" and entry[2].numel()]
        if bare in FRESH_INPUT:
            return [storage for _, _, storage in inputs[FRESH_INPUT[bare]:][:1]]
        if any(bare == word or (len(word) > 3 and word in bare) for word in ONE_FRESH_INPUT):
            return [storage for _, _, storage in inputs[:1]]
        if bare in OVERWRITING or "out" in written:
            inputs = [entry for entry in inputs if entry[0] not in written]
        # A vector of numbers beside tensors of more dimensions is a parameter.
        dimensions = max((tensor.dim() for _, tensor, _ in inputs), default=0)
        inputs = [entry for entry in inputs
                  if entry[1].dim() != 1 or dimensions == 1 or not entry[1].is_floating_point()]
        large = [entry for entry in inputs if entry[2].nbytes > SMALL]
        # Of two large ones the other was written earlier: x += y has just computed y.
        newest = large[-1:] if written else large[:1]
        return [storage for _, _, storage in inputs
                if storage.nbytes <= SMALL or any(storage is entry[2] for entry in newest)]

    def run(self):
        return self.overload(*self.positional, **self.keywords)


def flat_tensors(torch, result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [t for item in result for t in flat_tensors(torch, item)]
    return []


def check_outputs(torch, call, result):
    """Random finite inputs make finite outputs, unless an argument asks for something else."""
    scalars = [v for v in list(call.positional) + list(call.keywords.values()) if isinstance(v, float)]
    if "empty" in call.op or not all(math.isfinite(v) for v in scalars):
        return
    # The first one: what else an op returns may be memory that it was told not to fill.
    for tensor in flat_tensors(torch, result)[:1]:
        if tensor.numel() and tensor.dtype.is_floating_point and tensor.dtype.itemsize > 1:
            if not bool(torch.isfinite(tensor).all()):
                raise CannotReplay(f"{call.op} gave an output that is not finite")


def placements(specs):
    """Ways to read a tensor without dimensions: a Python number, or a tensor on the GPU."""
    def is_open(spec):
        return (spec["kind"] == "tensor" and not spec["dims"] and "place" not in spec
                and spec["dtype"] in ("float64", "int64", "bool"))

    is_number = [is_open(s) and any(o["kind"] == "tensor" for o in specs[:i]) for i, s in enumerate(specs)]
    if any(is_number):
        yield [dict(s, place="number") if n else s for s, n in zip(specs, is_number)]
        yield [dict(s, place="cpu") if n else s for s, n in zip(specs, is_number)]
    yield specs


def build_call(torch, case, device):
    """The first way to make the recorded call that runs."""
    problems = []
    for specs in placements(case["args"]):
        for overload in matching_overloads(torch, case["call"], specs):
            try:
                call = Call(torch, overload, specs, device)
                result = call.run()
                synchronize(torch, device)
                check_outputs(torch, call, result)
                return call
            except CannotReplay as problem:
                problems.append(str(problem))
            except Exception as problem:  # the op's own complaint, whatever its kind
                problems.append(f"{overload._schema.name}.{overload._overloadname}: "
                                f"{type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}")
    raise CannotReplay("; ".join(dict.fromkeys(problems)))


# ---- Time ------------------------------------------------------------------------------------


def synchronize(torch, device):
    if device.type != "cpu":
        torch.cuda.synchronize(device)


class Cache:
    """Puts the GPU's L2 cache into the state that a call is to find."""

    def __init__(self, torch, device, mode):
        self.torch, self.mode, self.scratch = torch, mode, None
        if mode != "hot":
            size = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 64 << 20)
            # Read, so that no write-backs are left over for the call to wait for.
            self.scratch = torch.zeros(max(size, 32 << 20) * 4 // 4, dtype=torch.int32, device=device)

    def sources(self, call):
        """For each fresh input: its bytes and two copies, which also undo what an op did in place."""
        if call.sources is None:
            whole = [storage.view(self.torch.uint8) for storage in call.fresh_arguments()]
            call.sources = [(bytes_, bytes_.clone(), bytes_.clone()) for bytes_ in whole]
        return call.sources

    def prepare(self, call):
        if self.mode == "hot":
            return
        if self.mode == "trace":
            self.sources(call)
        self.scratch.max()
        if self.mode == "trace":
            for whole, one, other in self.sources(call):
                self.torch.bitwise_or(one, other, out=whole)


def union_length(spans):
    """Overlapping kernels count once, as in the trace."""
    total, end = 0.0, -math.inf
    for start, duration in sorted(spans):
        total += max(0.0, start + duration - max(start, end))
        end = max(end, start + duration)
    return total


def kernels_by_repetition(trace):
    """From the profiler's own file: per repetition, the (start, duration, name) of its GPU work."""
    events = trace["traceEvents"]
    marks = sorted((e["ts"], e["ts"] + e["dur"], e["name"]) for e in events
                   if e.get("cat") == "user_annotation" and e.get("name", "").startswith(MARKER))
    launches = {e["args"]["correlation"]: e["ts"] for e in events
                if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    work = {name: [] for _, _, name in marks}
    for e in events:
        if e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        launched = launches.get(e.get("args", {}).get("correlation"))
        if launched is None:
            continue
        for start, end, name in marks:
            if start <= launched <= end:
                work[name].append((e["ts"], e["dur"], e["name"]))
                break
    return work


def profile(torch, run):
    """Runs under torch.profiler; the trace it writes, read back."""
    from torch.profiler import ProfilerActivity
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    warnings.filterwarnings("ignore", message=".*Profiler clears events.*")
    with torch.profiler.profile(activities=activities) as profiler:
        run()
    handle, path = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    try:
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    finally:
        os.unlink(path)


def repeat_marked(torch, call, cache, repetitions, device):
    for i in range(repetitions):
        cache.prepare(call)
        # Nothing is queued before the call, as in a program whose GPU keeps up.
        synchronize(torch, device)
        with torch.profiler.record_function(f"{MARKER} {i}"):
            call.run()
    synchronize(torch, device)


def time_with_profiler(torch, call, cache, repetitions, device):
    trace = profile(torch, lambda: repeat_marked(torch, call, cache, repetitions, device))
    work = kernels_by_repetition(trace)
    times = [union_length([(s, d) for s, d, _ in spans]) for spans in work.values()]
    names = [name for _, _, name in sorted(next(iter(work.values()), []))]
    return (times, names) if times and all(times) else (None, None)


def time_with_events(torch, call, device, launches=100):
    """Many launches behind a wait, so that the GPU never waits for the CPU."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    synchronize(torch, device)
    if hasattr(torch.cuda, "_sleep"):
        torch.cuda._sleep(20_000_000)
    start.record()
    for _ in range(launches):
        call.run()
    end.record()
    synchronize(torch, device)
    return start.elapsed_time(end) * 1e3 / launches


def measure(torch, call, cache, options, device):
    for _ in range(WARM_UP):
        cache.prepare(call)
        call.run()
    synchronize(torch, device)
    if not options.events:
        times, names = time_with_profiler(torch, call, cache, options.repetitions, device)
        if times:
            return times, names, "profiler"
        if options.profile:
            raise CannotReplay("torch.profiler saw no kernels; try --events")
    return [time_with_events(torch, call, device) for _ in range(5)], None, "events"


# ---- The report ------------------------------------------------------------------------------


def printable(text):
    """Names come from the trace: nothing in them may move a terminal's cursor."""
    return "".join(c if c.isprintable() else "?" for c in text)


def allow_what_was_allowed(torch, case):
    """TF32 is a switch of the program; the recorded kernels' names say how it stood."""
    tf32 = any("tf32" in name.lower() for name in case["kernels"])
    torch.set_float32_matmul_precision("high" if tf32 else "highest")


def replay_case(torch, case, cache, options, device):
    torch.manual_seed(0)
    allow_what_was_allowed(torch, case)
    call = build_call(torch, case, device)
    row = {"overload": f"{call.overload._schema.name}.{call.overload._overloadname}"}
    if device.type == "cpu":
        return row
    times, names, timer = measure(torch, call, cache, options, device)
    replayed = statistics.median(times)
    recorded = case["recorded_us"]["median"]
    row.update(replayed_us=replayed, replayed_min_us=min(times), replayed_max_us=max(times), timer=timer,
               ratio=replayed / recorded if recorded else None, kernels=names,
               same_kernels=None if names is None else sorted(names) == sorted(case["kernels"]))
    return row


def describe(case):
    parts = []
    for spec in case["args"]:
        if spec["kind"] == "tensor":
            parts.append("×".join(map(str, spec["dims"])) or "scalar")
        elif spec["kind"] == "tensors":
            parts.append(f"[{len(spec['items'])} tensors]")
    return ", ".join(parts)


def print_row(number, case, row):
    recorded = f"{case['recorded_us']['median']:12.2f}"
    if "error" in row:
        print(f"{number:4}  {recorded}  {'failed':>12}                  {describe(case)}: {row['error']}")
        return
    if "replayed_us" not in row:
        print(f"{number:4}  {recorded}  {'ran on CPU':>12}                  {describe(case)}")
        return
    ratio = f"{row['ratio']:7.2f}" if row["ratio"] is not None else "      -"
    kernels = {True: "same", False: "other", None: "?"}[row["same_kernels"]]
    print(f"{number:4}  {recorded}  {row['replayed_us']:12.2f}  {ratio}  {kernels:7} {describe(case)}")


def parse_options():
    parser = argparse.ArgumentParser(description="Replays " + printable(f"{OP} as recorded in {TRACE}.").replace("%", "%%"))
    parser.add_argument("--case", type=int, action="append", metavar="N", help="only this case (from 1); repeatable")
    parser.add_argument("--cold", action="store_true", help="evict the L2 cache before each call")
    parser.add_argument("--hot", action="store_true", help="leave the L2 cache as the last call left it")
    parser.add_argument("--profile", action="store_true", help="insist on the profiler's kernel times")
    parser.add_argument("--events", action="store_true", help="use device events instead of the profiler")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N")
    parser.add_argument("--device", default="cuda",
                        help="cuda (also for HIP), cuda:1, …; cpu builds and runs, untimed")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args()
    if options.cold and options.hot:
        parser.error("--cold and --hot exclude each other")
    if options.profile and options.events:
        parser.error("--profile and --events exclude each other")
    for number in options.case or []:
        if not 1 <= number <= len(CASES):
            parser.error(f"--case {number}: there are the cases 1 to {len(CASES)}")
    return options


def main():
    options = parse_options()
    try:
        import torch
    except ImportError:
        sys.exit("replay.py needs PyTorch: pip install torch")
    device = torch.device(options.device)
    if device.type != "cpu" and not torch.cuda.is_available():
        sys.exit("no CUDA or HIP device here; --device cpu checks that the cases can be built")
    gpu = torch.cuda.get_device_name(device) if device.type != "cpu" else "CPU"
    mode = "cold" if options.cold else "hot" if options.hot else "trace"
    cache = Cache(torch, device, mode) if device.type != "cpu" else None
    if not options.json:
        print(printable(f"{OP} from {TRACE}, recorded on {GPU or 'an unnamed GPU'}, replayed on {gpu} "
                        f"with PyTorch {torch.__version__}; L2 cache: {mode}"))
        print("case   recorded µs   replayed µs    ratio  kernels arguments")
    rows = []
    with torch.no_grad():
        for number, case in enumerate(CASES, 1):
            if options.case and number not in options.case:
                continue
            try:
                row = replay_case(torch, case, cache, options, device)
            except Exception as problem:  # the other cases go on
                row = {"error": str(problem) or type(problem).__name__}
            row.update(case=number, count=case["count"], recorded_us=case["recorded_us"]["median"],
                       recorded_total_us=case["recorded_us"]["sum"])
            rows.append(row)
            if not options.json:
                print_row(number, case, row)
    if options.json:
        print(json.dumps({"op": OP, "trace": TRACE, "recorded_on": GPU, "replayed_on": gpu,
                          "torch": torch.__version__, "cache": mode, "cases": rows}, indent=2))
    elif LEFT_OUT["cases"]:
        print(f"{LEFT_OUT['cases']} more argument sets with {LEFT_OUT['share']:.1%} of the op's time are left out")
    failed = [row["case"] for row in rows if "error" in row]
    if failed:
        print(printable(f"replay.py: failed: case {', '.join(map(str, failed))} of {OP}"), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
