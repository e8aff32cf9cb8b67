#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace fathom {

// Bounds what this process may add to its memory while the object lives. DuckDB counts its buffers
// against its own limit, but not what a function makes of one row: `range(1e9)` is 8 GB there.
class MemoryBound {
 public:
  // More than `bytes` by as much again as the process holds, for tables that are made on the way,
  // and by what threads need. 0: no bound.
  explicit MemoryBound(int64_t bytes);
  ~MemoryBound();
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

 private:
  rlimit before_ = {};
  bool is_set_ = false;
};

}  // namespace fathom
