from .core import JitSpec, gen_jit_spec

CSRC = "csrc"


def gen_customize_single_module(uri, dtype) -> JitSpec:
    source_paths = []
    for filename in ["single.cu", "single_binding.cu"]:
        source_paths.append(CSRC / filename)
    return gen_jit_spec(uri, source_paths)


def gen_single_module(dtype) -> JitSpec:
    return gen_customize_single_module("single", dtype)


def gen_batch_module(dtype) -> JitSpec:
    return gen_jit_spec("batch", [CSRC / "batch.cu", CSRC / "batch_binding.cu"])
