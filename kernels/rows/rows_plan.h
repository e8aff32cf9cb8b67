// How a job is cut into pieces for the GPU: pure arithmetic, so that it is tested without one.
#pragma once

#include <cstdint>

#include "rows.h"

namespace fathom::rows {

// The widest copy, 16, 8 or 4 bytes, that every address, stride and the row size allow; 0 where not
// even 4 does.
int vector_bytes(const FathomRowIndex& job);
int vector_bytes(const FathomRowStore& job);

// v3: 1, 2 or 4 warps, so that each lane has at most four vectors of a row where that is possible.
int warps_per_row(int64_t row_vectors);

// v4 and v5: a piece is what a group of lanes copies at once, `unroll` vectors for each lane.
struct PiecePlan {
  int lanes = 32;  // power of two; less than a warp for short rows
  int unroll = 1;  // 1, 2 or 4
  bool much_work = false;
  int64_t pieces_per_row = 1;
};
// `tensors` rows are copied for each index. Little work is cut into small pieces, so that it
// reaches every SM; much work into large ones, so that each warp has more loads in flight,
// `most_unroll` for each lane and tensor.
PiecePlan plan_pieces(int64_t count, int64_t row_vectors, int tensors, int most_unroll);

// Rows that one launch may take so that it can count its threads in 31 bits; at least 1.
int64_t rows_per_launch(int64_t row_bytes);

}  // namespace fathom::rows
