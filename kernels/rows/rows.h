// Rows by index, as a C interface on raw device pointers and a stream, so that it can be called
// through ctypes: a gather from an embedding table, and a scatter of K and V rows into a paged
// cache. Each returns as soon as the kernel is in the stream.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum FathomIndexType { FATHOM_INT32 = 0, FATHOM_INT64 = 1 };

// Addresses, strides and row sizes are multiples of 4 bytes; where all of them are multiples of 16
// (8), rows are copied 16 (8) bytes at a time. No output overlaps an input.
//
// out[i] = table[indices[i] − start] where start ≤ indices[i] < start + length, zeros elsewhere: a
// rank of a vocabulary-parallel embedding holds `length` rows from `start` on.
struct FathomRowIndex {
  const void* table;
  const void* indices;
  void* out;
  int64_t count;  // of indices
  int64_t row_bytes, table_stride, out_stride;
  int64_t start, length;
  int32_t index_type;        // FathomIndexType
  int32_t version;           // 0 … 5: a rung of the ladder; -1: the last one
  int32_t dependent_launch;  // not 0: starts before the stream's last kernel has ended (PDL, sm_90
                             // and newer), and waits for it before it touches memory; v4 and v5
  void* stream;              // cudaStream_t
};

// k_cache[slots[i]] = k[i] and v_cache[slots[i]] = v[i] where 0 ≤ slots[i] < slot_count; other
// rows, as padding has, are skipped. Where two slots are equal, either row may end up there.
struct FathomRowStore {
  const void *k, *v;
  const void* slots;
  void *k_cache, *v_cache;
  int64_t count;  // of slots
  int64_t row_bytes, k_stride, v_stride, k_cache_stride, v_cache_stride;
  int64_t slot_count;
  int32_t index_type, version, dependent_launch;  // as above
  void* stream;
};

// 0, or a cudaError_t.
int fathom_index_rows(const struct FathomRowIndex* job);
int fathom_store_rows(const struct FathomRowStore* job);
int fathom_empty_kernel(void* stream);  // what a launch costs by itself
const char* fathom_rows_error(int error);

#ifdef __cplusplus
}
#endif
