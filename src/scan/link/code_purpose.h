#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "scan/facts/text_lines.h"

namespace fathom {

// Whether a file is for trying, measuring or tending the program and not part of it: by its
// folders' names. Some of them say so at the root only, for packages are called so too.
inline bool is_test_or_example(std::string_view path) {
  constexpr std::array<std::string_view, 19> anywhere = {
      "test",    "tests",  "testing",   "unittest",   "unittests",    "unit_tests", "perf_tests",
      "bench",   "benchs", "benchmark", "benchmarks", "benchmarking", "example",    "examples",
      "samples", "sample", "demos",     "tutorial",   "tutorials"};
  constexpr std::array<std::string_view, 5> at_root = {"doc", "docs", "ci", "scripts", "tools"};
  const auto names = [](const auto& list, std::string_view folder) {
    return std::find(list.begin(), list.end(), folder) != list.end();
  };
  bool first = true;
  for (size_t slash; (slash = path.find('/')) != std::string_view::npos;
       path.remove_prefix(slash + 1)) {
    const std::string_view folder = path.substr(0, slash);
    if (folder.starts_with('.') || names(anywhere, folder) || (first && names(at_root, folder)))
      return true;
    first = false;
  }
  return path.starts_with("test_") || path.starts_with("test.") || path.starts_with("bench_") ||
         path.ends_with("_test.py") || path.ends_with("_test.cc") || path.ends_with("_test.cu") ||
         path == "setup.py" || path == "conftest.py";
}

// Whether a path says that it is of tests, and of nothing else.
inline bool is_test_path(std::string_view path) {
  return path.starts_with("test") || path.find("/test") != std::string_view::npos;
}

inline bool is_test_or_benchmark(std::string_view path) {
  return is_test_path(path) || path.starts_with("bench") ||
         path.find("/bench") != std::string_view::npos;
}

}  // namespace fathom
