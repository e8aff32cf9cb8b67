import torch
import triton
import triton.language as tl


@triton.jit
def paged_attention_kernel(out_ptr, q_ptr, k_cache_ptr, v_cache_ptr, block_table_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    page = tl.load(block_table_ptr + row)
    columns = tl.arange(0, BLOCK)
    keys = tl.load(k_cache_ptr + page * n + columns, mask=columns < n)
    values = tl.load(v_cache_ptr + page * n + columns, mask=columns < n)
    tl.store(out_ptr + row * n + columns, keys * values, mask=columns < n)


def paged_attention(q, k_cache, v_cache, block_table):
    out = torch.empty_like(q)
    paged_attention_kernel[(q.shape[0],)](out, q, k_cache, v_cache, block_table, q.shape[1], BLOCK=128)
    return out
