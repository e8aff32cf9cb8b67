#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom::cpp {

// A row of data/features/launch_calls.tsv. Positions are counted from 0.
struct LaunchCall {
  std::string_view name, qualifier;  // "launch", "ClusterLauncher"
  std::string_view field;            // of a type's objects that is the kernel; empty: it is a call
  std::optional<size_t> kernel, kernel_class, config, shared_memory, stream;
  struct Dimensions {
    size_t first, count;
  };
  std::optional<Dimensions> grid, block;
  struct Attribute {
    LaunchAttribute::Kind kind;
    std::optional<size_t> argument;  // that says whether, or how large
  };
  std::vector<Attribute> attributes;
};

const std::vector<LaunchCall>& launch_calls();

}  // namespace fathom::cpp
