"""Builds a recorded call again: tensors, indices that fit, the overload that takes them."""

import math

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
# What a gradient of attention takes from the forward op, by the names that it has there.
FORWARD_RESULTS = {
    "out": ("output", "out"), "logsumexp": ("logsumexp", "log_sumexp", "softmax_logsumexp"),
    "philox_seed": ("philox_seed", "rng_state"), "philox_offset": ("philox_offset", "unused"),
    "rng_state": ("rng_state",), "unused": ("unused",),
}


class CannotReplay(Exception):
    """A case that this PyTorch, or anyone, cannot build or run; the text says why."""


def synchronize(torch, device):
    if device.type != "cpu":
        torch.cuda.synchronize(device)


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
        # A tensor that is not there: an op that C++ called may have none where the schema wants one.
        return 1 if argument.has_default_value() or kind == "Tensor" else None
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


def attention_forward(torch, backward):
    """The forward op of a gradient: …_attention_backward goes with …_attention or …_attention_forward."""
    stem = backward[:-len("_backward")]
    for name in (stem, stem + "_forward"):
        packet = getattr(torch.ops.aten, name, None)
        if packet is not None:
            return packet.default
    raise CannotReplay(f"this PyTorch has no forward op for {backward}")


def as_recorded(result, built):
    """The forward op's result in the recorded strides, where it has the recorded shape."""
    same = built is not None and result.shape == built.shape and result.device == built.device
    if not same or result.stride() == built.stride():
        return result
    built.copy_(result)
    return built


class Call:
    """An overload with its arguments built: positional ones and keywords."""

    def __init__(self, torch, overload, specs, device):
        self.torch, self.overload, self.device = torch, overload, device
        self.op = overload._schema.name.partition("::")[2]
        self.tensors = []  # (argument's name, tensor, its storage), in order
        self.parameters = set()  # names of those that the trace has as a parameter or its gradient
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
        if spec.get("parameter"):
            self.parameters.add(name)
        return tensor

    def repair(self, by_name):
        """Arguments that only make sense as another op's result."""
        if self.op == "max_pool2d_with_indices_backward":
            _, image, *window, indices = self.positional
            pooled = self.torch.ops.aten.max_pool2d_with_indices(image, *window)
            indices.copy_(pooled[1])
        if "attention" in self.op and self.op.endswith("_backward"):
            self.take_forward_results()

    def argument(self, name):
        """The built argument of that name, or None."""
        for place, argument in enumerate(self.overload._schema.arguments[:len(self.positional)]):
            if argument.name == name:
                return self.positional[place]
        return self.keywords.get(name)

    def set_argument(self, name, value):
        for place, argument in enumerate(self.overload._schema.arguments[:len(self.positional)]):
            if argument.name == name:
                self.positional[place] = value
                return
        self.keywords[name] = value

    def take_forward_results(self):
        """A gradient of attention needs the forward op's output, sums and random state, not noise."""
        forward = attention_forward(self.torch, self.op)
        positional, keywords = [], {}
        for argument in forward._schema.arguments:
            value = self.argument(argument.name)
            if argument.name == "compute_log_sumexp":
                value = True
            elif value is None and argument.has_default_value():
                value = argument.default_value
            if argument.kwarg_only:
                keywords[argument.name] = value
            else:
                positional.append(value)
        results = forward(*positional, **keywords)
        named = {r.name: value for r, value in zip(forward._schema.returns, results)}
        for name in [a.name for a in self.overload._schema.arguments if a.name in FORWARD_RESULTS]:
            value = next((named[n] for n in FORWARD_RESULTS[name] if n in named), None)
            if value is None:
                raise CannotReplay(f"{forward._schema.name} returns nothing for {name}")
            self.set_argument(name, as_recorded(value, self.argument(name)))

    def written(self):
        """Names of the arguments that the op writes."""
        return {a.name for a in self.overload._schema.arguments
                if a.alias_info is not None and a.alias_info.is_write}

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


def placements(name, specs):
    """Ways to read a tensor without dimensions: a Python number, or a tensor on the GPU."""
    def is_open(spec):
        return (spec["kind"] == "tensor" and not spec["dims"] and "place" not in spec
                and spec["dtype"] in ("float64", "int64", "bool"))

    if "attention" in name:  # whose random state is two tensors without dimensions
        yield specs
        return
    is_number = [is_open(s) and any(o["kind"] == "tensor" for o in specs[:i]) for i, s in enumerate(specs)]
    if any(is_number):
        yield [dict(s, place="number") if n else s for s, n in zip(specs, is_number)]
        yield [dict(s, place="cpu") if n else s for s, n in zip(specs, is_number)]
    yield specs


def build_call(torch, case, device):
    """The first way to make the recorded call that runs."""
    problems = []
    for specs in placements(case["call"], case["args"]):
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
