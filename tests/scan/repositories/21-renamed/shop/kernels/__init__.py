from .rows import scale_kernel
from .rows import shift_kernel as moved_kernel
