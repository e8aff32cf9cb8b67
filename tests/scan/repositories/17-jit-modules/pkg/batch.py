from .jit import gen_batch_module


def get_batch_module(dtype):
    return gen_batch_module(dtype).build_and_load()


class BatchWrapper:
    def __init__(self, dtype):
        self._module = get_batch_module(dtype)

    def plan(self, n):
        self._plan = self._module.plan(n)

    def run(self, q):
        return self._module.run(q, self._plan)
