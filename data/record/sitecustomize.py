# Written by `fathom record` for the program that it runs. Python loads it before the program:
# PyTorch's op records and the calls asked for with --probe are recorded from here.
# Whatever fails here becomes a note for `fathom record`; the program goes on.
import atexit
import functools
import importlib.machinery
import importlib.util
import inspect
import os
import sys
import threading
import time
import types
import warnings

_directory = os.environ.get("FATHOM_RECORD_DIR", "")
_options = os.environ.get("FATHOM_RECORD_OPTIONS", "").split(",")
_probes = [p for p in os.environ.get("FATHOM_RECORD_PROBES", "").split("\n") if p]


def _note(text):
    try:
        with open(os.path.join(_directory, "python-%d.note" % os.getpid()), "a") as file:
            file.write(str(text).replace("\n", " ") + "\n")
    except OSError:
        pass


def _guarded(function):
    @functools.wraps(function)
    def call(*arguments):
        try:
            return function(*arguments)
        except Exception as error:  # the program must not notice
            _note("%s: %s: %s" % (function.__name__.strip("_"), type(error).__name__, error))
            return None
    return call


class _Probes:
    """Writes a line for each call, and for each number of it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.lines = []
        self.written = 0.0
        self.pid = os.getpid()

    def add(self, *lines):
        with self.lock:
            if self.pid != os.getpid():  # a forked child begins with nothing
                self.pid, self.lines = os.getpid(), []
            self.lines.extend(lines)
            if len(self.lines) > 4096 or time.monotonic() - self.written > 0.25:
                self._write()

    def _write(self):
        self.written = time.monotonic()
        lines, self.lines = self.lines, []
        if not lines:
            return
        try:
            with open(os.path.join(_directory, "probes-%d.tsv" % self.pid), "a") as file:
                file.write("".join(lines))
        except OSError:
            pass

    def finish(self):
        with self.lock:
            if self.pid == os.getpid():
                self._write()


_calls = _Probes()


def _number_of(path, values):
    """The number at `name.attribute.attribute`, or the length of what is there."""
    is_length = path.startswith("len(")
    names = (path[4:-1] if is_length else path).split(".")
    value = values[names[0]]
    for name in names[1:]:
        value = getattr(value, name)
    return float(len(value) if is_length else value)


def _wrapped(function, label, numbers):
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = None

    def record(start, arguments, keywords, result, has_result):
        end = time.time_ns()
        thread = threading.get_native_id()
        lines = ["R\t%d\t%d\t%d\t%s\n" % (start, end, thread, label)]
        if numbers:
            values = {}
            try:
                if signature is not None:
                    values.update(signature.bind(*arguments, **keywords).arguments)
            except TypeError:
                pass
            if has_result:
                values["result"] = result
            for path in numbers:
                try:
                    value = _number_of(path, values)
                except Exception:  # absent, or no number: not known for this call
                    continue
                lines.append("N\t%d\t%.17g\t%d\t%s %s\n" % (end, value, thread, label, path))
        _calls.add(*lines)

    if inspect.isgeneratorfunction(function):
        @functools.wraps(function)
        def call(*arguments, **keywords):  # from its first step to its end
            start, result, done = time.time_ns(), None, False
            try:
                result = yield from function(*arguments, **keywords)
                done = True
                return result
            finally:
                record(start, arguments, keywords, result, done)
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & inspect.CO_ITERABLE_COROUTINE:
            call = types.coroutine(call)  # can be awaited too
    elif inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def call(*arguments, **keywords):
            start, result, done = time.time_ns(), None, False
            try:
                result = await function(*arguments, **keywords)
                done = True
                return result
            finally:
                record(start, arguments, keywords, result, done)
    else:
        @functools.wraps(function)
        def call(*arguments, **keywords):
            start, result, done = time.time_ns(), None, False
            try:
                result = function(*arguments, **keywords)
                done = True
                return result
            finally:
                record(start, arguments, keywords, result, done)
    return call


def _not_placed(probe, why):
    """Says why; the line tells `fathom record` that nothing more is to be said about the probe."""
    _note("--probe %s: nothing was recorded; %s" % (probe, why))
    _calls.add("P\t%s\n" % probe)
    _calls.finish()


@_guarded
def _place_probe(module, probe):
    place, _, numbers = probe.partition("(")
    numbers = [n.strip() for n in numbers[:-1].split(",")] if numbers else []
    module_name, _, path = place.partition(":")
    names = path.split(".")
    owner = module
    try:
        for name in names[:-1]:
            owner = getattr(owner, name)
        target = inspect.getattr_static(owner, names[-1])
    except AttributeError:
        _not_placed(probe, "%s has no %s" % (module_name, path))
        return
    kind = type(target) if isinstance(target, (staticmethod, classmethod)) else None
    function = target.__func__ if kind else target
    if not callable(function):
        _not_placed(probe, "it is a property or another value, not a function")
        return
    if inspect.isasyncgenfunction(function):
        _not_placed(probe, "async generators cannot be probed")
        return
    call = _wrapped(function, place, numbers)
    try:
        setattr(owner, names[-1], kind(call) if kind else call)
    except (AttributeError, TypeError):  # a class of an extension
        _not_placed(probe, "Python does not let it be replaced")
        return
    _calls.add("P\t%s\n" % probe)


_torch = {"profiler": None}


@_guarded
def _stop_torch():
    profiler, _torch["profiler"] = _torch["profiler"], None
    if profiler is None or _torch["pid"] != os.getpid():
        return
    # Events as objects of Python take 0.07 ms each, and only the exported file is read.
    if hasattr(profiler, "_parse_kineto_results"):
        profiler._parse_kineto_results = lambda *arguments, **keywords: []
    path = os.path.join(_directory, "torch-%d.json" % os.getpid())
    try:
        profiler.__exit__(None, None, None)
        profiler.export_chrome_trace(path)
    except Exception:
        profiler.kineto_results.save(path)  # what both of them work with


@_guarded
def _start_torch(torch):
    # Not torch.profiler.profile, which imports torch._inductor as it starts: seconds.
    from torch.autograd import profiler as autograd_profiler

    settings = {"use_kineto": True, "record_shapes": True}
    if "python-stacks" in _options:
        settings.update(with_stack=True)
    try:
        from torch._C._profiler import _ExperimentalConfig
        settings["experimental_config"] = _ExperimentalConfig(profile_all_threads=True)
    except (ImportError, TypeError):
        pass  # older versions: the threads that start from this one
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch 2.4 warns that no GPU is profiled
        profiler = autograd_profiler.profile(**settings)
    # There can be one: where the program profiles itself, that one goes first.
    prepare = autograd_profiler.profile._prepare_trace

    def prepare_trace(self, *arguments, **keywords):
        if _torch["profiler"] is not None and self is not _torch["profiler"]:
            _note("the program uses PyTorch's profiler itself: ops are recorded up to there")
            _stop_torch()
        return prepare(self, *arguments, **keywords)

    profiler.__enter__()
    autograd_profiler.profile._prepare_trace = prepare_trace
    _torch.update(profiler=profiler, pid=os.getpid())
    atexit.register(_stop_torch)


def _loaded(name, module):
    if name == "torch" and "torch" in _options:
        _start_torch(module)
    for probe in _probes:
        if probe.partition(":")[0] == name:
            _place_probe(module, probe)


class _Loader:
    """A module's own loader; tells when the module is there."""

    def __init__(self, loader, name):
        self.loader, self.name = loader, name

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        spec = getattr(module, "__spec__", None)
        if spec is not None:
            spec.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        _loaded(self.name, module)

    def __getattr__(self, name):
        return getattr(self.loader, name)


class _Finder:
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name not in self.names:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, name)
                return spec
        return None


@_guarded
def _start():
    names = {p.partition(":")[0] for p in _probes}
    if "torch" in _options:
        names.add("torch")
    if names:
        sys.meta_path.insert(0, _Finder(names))
    if _probes:
        atexit.register(_calls.finish)
    for probe in _probes:
        name = probe.partition(":")[0]
        if name == "__main__":
            _not_placed(probe, "functions of the file that is run (__main__) cannot be probed; "
                        "move it to a module that is imported")
        elif name in sys.modules:
            _not_placed(probe, "%s is loaded before probes can be placed" % name)


def _pass_on():
    """The sitecustomize that this one stands before."""
    here = os.path.dirname(os.path.abspath(__file__))
    paths = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if _directory:
    _start()
_pass_on()
