#include "rows_plan.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace fathom::rows {

namespace {

// The H200 has 132 SMs; a few more or less change nothing here.
constexpr int64_t kSms = 132;
constexpr int64_t kWarpsForSmallPieces = kSms * 16, kWarpsForMiddlePieces = kSms * 48;
constexpr int64_t kThreadsPerLaunch = int64_t{1} << 30;

int widest(std::initializer_list<const void*> addresses, std::initializer_list<int64_t> sizes) {
  uint64_t all = 0;
  for (const void* address : addresses) all |= reinterpret_cast<uintptr_t>(address);
  for (const int64_t size : sizes) all |= static_cast<uint64_t>(size);
  for (const int width : {16, 8, 4}) {
    if (all % static_cast<uint64_t>(width) == 0) return width;
  }
  return 0;
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

int vector_bytes(const FathomRowIndex& job) {
  return widest({job.table, job.out}, {job.row_bytes, job.table_stride, job.out_stride});
}

int vector_bytes(const FathomRowStore& job) {
  return widest(
      {job.k, job.v, job.k_cache, job.v_cache},
      {job.row_bytes, job.k_stride, job.v_stride, job.k_cache_stride, job.v_cache_stride});
}

int warps_per_row(int64_t row_vectors) {
  if (row_vectors <= 32 * 4) return 1;
  return row_vectors <= 2 * 32 * 4 ? 2 : 4;
}

PiecePlan plan_pieces(int64_t count, int64_t row_vectors, int tensors, int most_unroll) {
  PiecePlan plan;
  plan.lanes = static_cast<int>(
      std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(row_vectors, 1, 32))));
  const int64_t warps = divide_up(count * divide_up(row_vectors, plan.lanes) * plan.lanes, 32);
  const int64_t loads = warps * tensors;
  plan.much_work = loads > kWarpsForMiddlePieces;
  plan.unroll = loads <= kWarpsForSmallPieces ? 1 : plan.much_work ? most_unroll : 2;
  while (plan.unroll > 1 && int64_t{plan.lanes} * plan.unroll / 2 >= row_vectors) plan.unroll /= 2;
  plan.pieces_per_row =
      std::max<int64_t>(1, divide_up(row_vectors, int64_t{plan.lanes} * plan.unroll));
  return plan;
}

int64_t rows_per_launch(int64_t row_bytes) {
  // v0 has a thread for each 4 bytes, v1 to v3 up to four warps for a row.
  return std::max<int64_t>(1, kThreadsPerLaunch / std::max<int64_t>(row_bytes / 4, 128));
}

}  // namespace fathom::rows
