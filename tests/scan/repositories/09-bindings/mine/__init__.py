from .layers import gelu, normalize
