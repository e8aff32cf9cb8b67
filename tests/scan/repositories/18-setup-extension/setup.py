from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

setup(
    name="pkg",
    packages=["pkg"],
    ext_modules=[
        CUDAExtension(name="pkg_cuda", sources=["csrc/api.cpp", "csrc/run_64.cu", "csrc/run_128.cu"]),
        CUDAExtension(name="other_cuda", sources=["csrc/other.cpp"]),
    ],
)
