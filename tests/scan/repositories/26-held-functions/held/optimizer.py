import held_C
import other


def apply(function, tensors):
    for one in tensors:
        function(one)


def step(tensors):
    apply(held_C.multi_scale, tensors)
    # Another module's function of that name.
    apply(other.multi_unused, tensors)


class Optimizer:
    def __init__(self, loader):
        self.norm = held_C.multi_norm
        self.unused = self.multi_unused

    def step(self, x):
        self.norm(x)
