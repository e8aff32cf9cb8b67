from .core import JitSpec as JitSpec
from .modules import gen_batch_module as gen_batch_module
from .modules import gen_single_module as gen_single_module
