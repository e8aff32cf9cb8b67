"""As much of PyTorch as replay.py asks for, without numbers: tensors have sizes, strides and a place."""

import contextlib
import json
import math
import sys
import types


class DType:
    def __init__(self, name, itemsize):
        self.name, self.itemsize = name, itemsize
        self.is_floating_point = "float" in name
        self.is_complex = "complex" in name


class Device:
    def __init__(self, text):
        self.type = text.partition(":")[0]

    def __eq__(self, other):
        return self.type == other.type


class Storage:
    def __init__(self, count, dtype, device):
        self.count, self.dtype, self.device = count, dtype, device
        self.nbytes = count * dtype.itemsize

    def numel(self):
        return self.count

    def view(self, dtype):
        return Storage(self.nbytes, dtype, self.device)

    def clone(self):
        return Storage(self.count, self.dtype, self.device)

    def max(self):
        torch.log.append("evict")


class Tensor:
    def __init__(self, shape, strides, dtype, device):
        self.shape, self.strides, self.dtype, self.device = tuple(shape), tuple(strides), dtype, device
        self.copied_from = None

    def stride(self):
        return self.strides

    def dim(self):
        return len(self.shape)

    def numel(self):
        return math.prod(self.shape)

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def copy_(self, other):
        self.copied_from = other


class Argument:
    """From "Tensor(a!)[] self" or "float? scale=None"."""

    def __init__(self, text, kwarg_only):
        declared, _, default = text.partition("=")
        kind, self.name = declared.rsplit(" ", 1)
        self.kwarg_only, self.default = kwarg_only, default
        self.default_value = {"None": None, "False": False, "True": True, "": None}.get(default, 0.0)
        self.alias_info = types.SimpleNamespace(is_write=True) if "!" in kind else None
        kind = kind.split("(")[0] + kind.split(")")[-1] if "(" in kind else kind
        self.type = schema_type(kind)

    def has_default_value(self):
        return self.default != ""


def schema_type(kind):
    if kind.endswith("?"):
        return f"Optional[{schema_type(kind[:-1])}]"
    if kind.endswith("]"):
        return f"List[{schema_type(kind[:kind.rindex('[')])}]"
    return {"Scalar": "number"}.get(kind, kind)


class Overload:
    def __init__(self, text, result):
        head, _, returns = text.partition(" -> ")
        name, _, arguments = head.partition("(")
        before, _, after = arguments[:-1].partition("*, ")
        parts = [(p, False) for p in before.split(", ") if p] + [(p, True) for p in after.split(", ") if p]
        full, _, self._overloadname = name.partition(".")
        self._overloadname = self._overloadname or "default"
        self._schema = types.SimpleNamespace(
            name=full, arguments=[Argument(p.strip(), k) for p, k in parts],
            returns=[types.SimpleNamespace(name=r.split(" ")[-1] if " " in r else "")
                     for r in returns.strip("()").split(", ") if r])
        self.result, self.calls = result, []

    def __call__(self, *positional, **keywords):
        self.calls.append((positional, keywords))
        torch.log.append(self._schema.name)
        return self.result


class Packet:
    def overloads(self):
        return [name for name in vars(self)]


def register(text, result=()):
    """Declares an operator by its line of native_functions.yaml; what it returns when called."""
    overload = Overload(text, result)
    namespace, name = overload._schema.name.split("::")
    space = getattr(torch.ops, namespace)
    if not hasattr(space, name):
        setattr(space, name, Packet())
    setattr(getattr(space, name), overload._overloadname, overload)
    return overload


class Profiler:
    """A trace in which each marked repetition has one kernel of 10 µs and one of 5 µs that overlaps it."""

    def __init__(self, activities):
        self.activities = activities

    def export_chrome_trace(self, path):
        events = []
        for i, name in enumerate(torch.marks):
            at = 100 * i
            events += [
                {"cat": "user_annotation", "name": name, "ts": at, "dur": 50},
                {"cat": "cuda_runtime", "name": "launch", "ts": at + 1, "dur": 1, "args": {"correlation": 2 * i}},
                {"cat": "cuda_runtime", "name": "launch", "ts": at + 3, "dur": 1, "args": {"correlation": 2 * i + 1}},
                {"cat": "kernel", "name": "one", "ts": at + 60, "dur": 10, "args": {"correlation": 2 * i}},
                {"cat": "kernel", "name": "two", "ts": at + 67, "dur": 5, "args": {"correlation": 2 * i + 1}}]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)


@contextlib.contextmanager
def profile(activities):
    torch.marks = []
    yield Profiler(activities)


@contextlib.contextmanager
def record_function(name):
    torch.marks.append(name)
    yield


def install():
    """A fresh module under the name torch."""
    global torch
    torch = types.ModuleType("torch")
    for name, size in {"uint8": 1, "bool": 1, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2, "float32": 4,
                       "float64": 8}.items():
        setattr(torch, name, DType(name, size))
    torch.Tensor, torch.device, torch.__version__, torch.log, torch.marks = Tensor, Device, "0", [], []
    torch.ops = types.SimpleNamespace(aten=types.SimpleNamespace())
    torch.empty = lambda n, dtype, device, pin_memory=False: Storage(
        n, dtype, device if isinstance(device, Device) else Device(device))
    torch.zeros = lambda n, dtype, device: Storage(n, dtype, device)
    torch.as_strided = lambda s, dims, strides: Tensor(dims, strides, s.dtype, s.device)
    torch.isfinite = lambda tensor: types.SimpleNamespace(all=lambda: True)
    torch.bitwise_or = lambda one, other, out: torch.log.append(f"write {out.nbytes}")
    torch.manual_seed = torch.set_float32_matmul_precision = lambda value: None
    torch.no_grad = contextlib.nullcontext
    torch.cuda = types.SimpleNamespace(
        is_available=lambda: True, synchronize=lambda device: None, get_device_name=lambda device: "Fake GPU",
        get_device_properties=lambda device: types.SimpleNamespace(L2_cache_size=1 << 20))
    torch.profiler = types.ModuleType("torch.profiler")
    torch.profiler.ProfilerActivity = types.SimpleNamespace(CPU=0, CUDA=1)
    torch.profiler.profile, torch.profiler.record_function = profile, record_function
    sys.modules.update({"torch": torch, "torch.profiler": torch.profiler})
    return torch
