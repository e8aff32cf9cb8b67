from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

PACKAGE = "mine"

setup(
    name="mine",
    ext_modules=[
        CUDAExtension(name="mine_cuda", sources=["csrc/attention.cpp"]),
        CUDAExtension(name=f"{PACKAGE}._other", sources=["csrc/other/attention.cpp"]),
    ],
)
