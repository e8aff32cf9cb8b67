import triton
import triton.language as tl


@triton.jit
def store_kvcache_kernel(key, cache, slots, D: tl.constexpr):
    row = tl.program_id(0)
    slot = tl.load(slots + row)
    column = tl.arange(0, D)
    tl.store(cache + slot * D + column, tl.load(key + row * D + column))


def store_kvcache(key, cache, slots):
    store_kvcache_kernel[(slots.numel(),)](key, cache, slots, D=key.shape[-1])
