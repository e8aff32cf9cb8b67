#pragma once

#include <map>
#include <unordered_map>

#include "analyze/diff/call_paths.h"

namespace fathom {

// The calls of one op from one place with the same arguments. Ids are of the shared NameTable.
struct PathGroupKey {
  CallPath path;
  StringId name, dims, types;

  auto operator<=>(const PathGroupKey&) const = default;
};

struct CountedTime {
  int64_t count = 0;
  Nanos time;
};

struct PathGroup {
  PathGroupKey key;
  // The first two arguments alone: compiled code gives a call its result too (out=), eager code
  // does not.
  StringId operands;
  std::string_view category;
  CountedTime calls;
  std::unordered_map<StringId, CountedTime> kernels;
};

struct GroupedOps {
  std::vector<PathGroup> groups;  // in the order of first sight
  std::map<std::string_view, CountedTime> categories;
  Nanos work;
};

// All GPU work of the timeline, once: ops as unified_perf_summary takes them, then communication by
// the op that asked for it, then work without a launch where the scope counts it.
GroupedOps group_ops(const SheetInput& input, NameTable& names);

}  // namespace fathom
