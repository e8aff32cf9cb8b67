"""The docstring's __global__ void prose_kernel(float* x) {} is prose."""
import functools

SOURCE = r"""
extern "C" __global__ void from_string(float* x) {
  x[threadIdx.x] = 1;
}
"""

UNUSED = """
__global__ void unused_string(float* x) { x[0] = 2; }
"""


@functools.cache
def module():
    return compile_source(SOURCE).get_function("from_string")


def rows_module(width: int, kind: str):
    arguments = f"{width}, {kind}"
    return load_jit(cuda_files=["rows.cu"], exports=[("launch", f"RowsKernel<{arguments}>::run")])


def rows(x, width):
    rows_module(width, "float").launch(x)
