from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

setup(name="x", ext_modules=[CUDAExtension("x", ["kernels/listed.cu"])])
