#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "events/counter_set.h"

namespace fathom::capture {

// A kernel with the shape of its launch, by the texts of a capture.
struct LaunchShape {
  uint32_t name = 0, mangled = 0, device = 0;
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t dynamic_shared = 0;

  auto fields() const {
    return std::tie(mangled, name, device, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                    dynamic_shared);
  }
  bool operator<(const LaunchShape& other) const { return fields() < other.fields(); }
};

// Of a kernel's or a counter's record.
template <typename Record>
LaunchShape shape_of(const Record& record) {
  LaunchShape shape{record.name, record.mangled, record.device, {}, {}, record.dynamic_shared};
  std::copy_n(record.grid, 3, shape.grid);
  std::copy_n(record.block, 3, shape.block);
  return shape;
}

inline void set_shape(CounterRow& row, const LaunchShape& shape) {
  row.grid = Dim3{shape.grid[0], shape.grid[1], shape.grid[2]};
  row.block = Dim3{shape.block[0], shape.block[1], shape.block[2]};
  row.dynamic_shared = shape.dynamic_shared;
  row.device = shape.device;
}

// What a chunk of facts tells of the first GPU.
void take_gpu(std::string_view facts, CounterOrigin& origin);

// CUPTI's values are in these: what a name measures tells which.
std::string_view unit_of_metric(std::string_view metric);

}  // namespace fathom::capture
