#include "rows_reference.h"

#include <cstddef>
#include <cstring>

namespace fathom::rows {

namespace {

int64_t index_at(const void* indices, int32_t type, int64_t position) {
  if (type == FATHOM_INT32) return static_cast<const int32_t*>(indices)[position];
  return static_cast<const int64_t*>(indices)[position];
}

const std::byte* row_of(const void* rows, int64_t stride, int64_t row) {
  return static_cast<const std::byte*>(rows) + row * stride;
}

std::byte* row_of(void* rows, int64_t stride, int64_t row) {
  return static_cast<std::byte*>(rows) + row * stride;
}

}  // namespace

void index_rows_reference(const FathomRowIndex& job) {
  const auto bytes = static_cast<size_t>(job.row_bytes);
  for (int64_t i = 0; i < job.count; ++i) {
    const int64_t index = index_at(job.indices, job.index_type, i);
    std::byte* out = row_of(job.out, job.out_stride, i);
    if (index < job.start || index - job.start >= job.length) {
      std::memset(out, 0, bytes);
    } else {
      std::memcpy(out, row_of(job.table, job.table_stride, index - job.start), bytes);
    }
  }
}

void store_rows_reference(const FathomRowStore& job) {
  const auto bytes = static_cast<size_t>(job.row_bytes);
  for (int64_t i = 0; i < job.count; ++i) {
    const int64_t slot = index_at(job.slots, job.index_type, i);
    if (slot < 0 || slot >= job.slot_count) continue;
    std::memcpy(row_of(job.k_cache, job.k_cache_stride, slot), row_of(job.k, job.k_stride, i),
                bytes);
    std::memcpy(row_of(job.v_cache, job.v_cache_stride, slot), row_of(job.v, job.v_stride, i),
                bytes);
  }
}

}  // namespace fathom::rows
