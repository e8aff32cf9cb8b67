from .kernels import activation, gather_rows, rms_norm, scatter_rows
from .softmax import softmax

__all__ = ["activation", "gather_rows", "rms_norm", "scatter_rows", "softmax"]
