// The CPU reference of index and store by hand, and how the kernels cut their work.
#include "rows_reference.h"

#include <utility>
#include <vector>

#include "checks.h"
#include "rows_plan.h"

namespace fathom::rows {
namespace {

TEST(RowsReference, IndexCopiesRowsAndZeroesThoseOfOtherRanks) {
  const std::vector<uint32_t> table{10, 11, 0, 20, 21, 0, 30, 31, 0};  // rows of 2, one word apart
  const std::vector<int64_t> indices{102, 99, 100, 103, -1};
  std::vector<uint32_t> out(5 * 4, 7);  // rows of 2, two words apart
  FathomRowIndex job{};
  job.table = table.data(), job.indices = indices.data(), job.out = out.data();
  job.count = 5, job.row_bytes = 8, job.table_stride = 12, job.out_stride = 16;
  job.start = 100, job.length = 3, job.index_type = FATHOM_INT64;
  index_rows_reference(job);
  EXPECT_EQ(
      out, (std::vector<uint32_t>{30, 31, 7, 7, 0, 0, 7, 7, 10, 11, 7, 7, 0, 0, 7, 7, 0, 0, 7, 7}));
}

TEST(RowsReference, StoreSkipsSlotsThatAreNotThere) {
  const std::vector<uint32_t> k{1, 2, 3, 4}, v{5, 6, 7, 8};
  const std::vector<int32_t> slots{2, -1, 0, 3};
  std::vector<uint32_t> k_cache(3, 9), v_cache(6, 9);
  FathomRowStore job{};
  job.k = k.data(), job.v = v.data(), job.slots = slots.data();
  job.k_cache = k_cache.data(), job.v_cache = v_cache.data();
  job.count = 4, job.row_bytes = 4, job.k_stride = job.v_stride = 4;
  job.k_cache_stride = 4, job.v_cache_stride = 8, job.slot_count = 3;
  job.index_type = FATHOM_INT32;
  store_rows_reference(job);
  EXPECT_EQ(k_cache, (std::vector<uint32_t>{3, 9, 1}));
  EXPECT_EQ(v_cache, (std::vector<uint32_t>{7, 9, 9, 9, 5, 9}));
}

FathomRowIndex index_job(uintptr_t table, uintptr_t out, int64_t row_bytes, int64_t stride) {
  FathomRowIndex job{};
  job.table = reinterpret_cast<const void*>(table), job.out = reinterpret_cast<void*>(out);
  job.row_bytes = row_bytes, job.table_stride = job.out_stride = stride;
  return job;
}

TEST(RowsPlan, VectorsAreAsWideAsEverythingAllows) {
  EXPECT_EQ(vector_bytes(index_job(256, 512, 8192, 8192)), 16);
  EXPECT_EQ(vector_bytes(index_job(256, 520, 8192, 8192)), 8);
  EXPECT_EQ(vector_bytes(index_job(260, 512, 8192, 8192)), 4);
  EXPECT_EQ(vector_bytes(index_job(256, 512, 24, 48)), 8);
  EXPECT_EQ(vector_bytes(index_job(256, 512, 16, 20)), 4);
  EXPECT_EQ(vector_bytes(index_job(258, 512, 16, 16)), 0);
  FathomRowStore store{};
  store.row_bytes = store.k_stride = store.v_stride = store.k_cache_stride = 2048;
  store.v_cache_stride = 2048;
  EXPECT_EQ(vector_bytes(store), 16);
  store.v_cache_stride = 2056;
  EXPECT_EQ(vector_bytes(store), 8);
}

TEST(RowsPlan, OneToFourWarpsForARow) {
  EXPECT_EQ(warps_per_row(1), 1);
  EXPECT_EQ(warps_per_row(128), 1);
  EXPECT_EQ(warps_per_row(129), 2);
  EXPECT_EQ(warps_per_row(256), 2);
  EXPECT_EQ(warps_per_row(512), 4);
  EXPECT_EQ(warps_per_row(5000), 4);
}

TEST(RowsPlan, PiecesCoverARowOnce) {
  for (const int64_t count : {1, 64, 1000, 65536}) {
    for (const int64_t vectors : {1, 2, 3, 4, 5, 16, 31, 32, 33, 100, 512, 513, 4096}) {
      for (const auto& [tensors, most] : {std::pair{1, 2}, {1, 4}, {2, 2}, {2, 4}}) {
        const PiecePlan plan = plan_pieces(count, vectors, tensors, most);
        const int64_t piece = int64_t{plan.lanes} * plan.unroll;
        EXPECT_EQ(plan.lanes & (plan.lanes - 1), 0);
        EXPECT_LE(plan.lanes, 32);
        EXPECT_GE(piece * plan.pieces_per_row, vectors) << count << " " << vectors;
        EXPECT_LT(piece * (plan.pieces_per_row - 1), vectors) << count << " " << vectors;
      }
    }
  }
}

TEST(RowsPlan, LittleWorkIsCutSmallAndMuchWorkLarge) {
  EXPECT_EQ(plan_pieces(64, 512, 1, 4).unroll, 1);    // the 1 MB case: 1024 warps
  EXPECT_EQ(plan_pieces(256, 512, 1, 4).unroll, 2);   // 4096
  EXPECT_EQ(plan_pieces(4096, 512, 1, 4).unroll, 4);  // 65536
  EXPECT_EQ(plan_pieces(4096, 512, 1, 2).unroll, 2);
  EXPECT_TRUE(plan_pieces(4096, 512, 1, 2).much_work);
  EXPECT_FALSE(plan_pieces(256, 512, 1, 2).much_work);
  EXPECT_EQ(plan_pieces(65536, 4, 1, 4).lanes, 4);    // eight rows of 64 bytes share a warp
  EXPECT_EQ(plan_pieces(65536, 16, 1, 4).unroll, 1);  // a row has no more than its 16 vectors
}

TEST(RowsPlan, LaunchesStayCountable) {
  EXPECT_EQ(rows_per_launch(8192), (1 << 30) / 2048);
  EXPECT_EQ(rows_per_launch(4), (1 << 30) / 128);
  EXPECT_GE(rows_per_launch(int64_t{1} << 40), 1);
}

}  // namespace
}  // namespace fathom::rows
