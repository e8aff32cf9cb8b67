"""The CUDA kernels as PyTorch operators: built by nvcc at first use, called through ctypes."""

import ctypes
import functools
import os
import pathlib
import subprocess

import torch

from .config import BUILD_DIR

SOURCES = pathlib.Path(__file__).parent.parent / "csrc"


@functools.cache
def library() -> ctypes.CDLL:
    os.makedirs(BUILD_DIR, exist_ok=True)
    path = os.path.join(BUILD_DIR, "libtiny.so")
    files = [str(SOURCES / "rows.cu"), str(SOURCES / "pointwise.cu")]
    subprocess.run(["nvcc", "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-o", path, *files], check=True)
    return ctypes.CDLL(path)


def pointer(tensor: torch.Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def stream() -> ctypes.c_void_p:
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


@torch.library.custom_op("tiny::gather_rows", mutates_args=())
def gather_rows(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    out = table.new_empty(rows.shape[0], table.shape[1])
    row_bytes = table.shape[1] * table.element_size()
    library().tiny_gather_rows(
        pointer(out), pointer(table), pointer(rows), rows.element_size(), rows.shape[0], row_bytes, stream()
    )
    return out


@torch.library.custom_op("tiny::scatter_rows", mutates_args=("cache",))
def scatter_rows(cache: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> None:
    row_bytes = rows.shape[1] * rows.element_size()
    library().tiny_scatter_rows(pointer(cache), pointer(rows), pointer(slots), rows.shape[0], row_bytes, stream())


@torch.library.custom_op("tiny::rms_norm", mutates_args=())
def rms_norm(x: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    out = torch.empty_like(x)
    library().tiny_rms_norm(
        pointer(out), pointer(x), pointer(weight), x.shape[0], x.shape[1], ctypes.c_float(epsilon), stream()
    )
    return out


@torch.library.custom_op("tiny::activation", mutates_args=())
def activation(x: torch.Tensor, gelu: bool) -> torch.Tensor:
    out = torch.empty_like(x)
    library().tiny_activation(pointer(out), pointer(x), x.numel(), gelu, stream())
    return out
