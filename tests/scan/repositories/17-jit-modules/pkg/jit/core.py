from typing import Any, List


class JitSpec:
    def __init__(self, name: str, sources: List[str]):
        self.name = name
        self.sources = sources

    def build_and_load(self) -> Any:
        return compile_and_open(self.name, self.sources)


def gen_jit_spec(name, sources) -> JitSpec:
    return JitSpec(name, sources)
