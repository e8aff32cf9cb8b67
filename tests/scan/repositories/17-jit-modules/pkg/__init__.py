from .batch import BatchWrapper as BatchWrapper
from .decode import helper as helper
from .decode import single_decode as single_decode
