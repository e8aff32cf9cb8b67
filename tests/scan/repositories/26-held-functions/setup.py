from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

setup(
    name="held",
    ext_modules=[CUDAExtension(name="held_C", sources=["csrc/held.cu"])],
)
