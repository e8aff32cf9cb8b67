#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/text_parts.h"

namespace fathom {

// What a file is in a repository for, by the names of its folders and its own.
enum class CodePurpose : uint8_t { kTest, kBenchmark, kExample, kDocument, kTending, kProduct };

// The first of these that any part of the path says. Some folders say so at the root only, for
// packages are called so too.
inline CodePurpose purpose_of(std::string_view path) {
  struct Folder {
    std::string_view name;
    CodePurpose purpose;
    bool at_root = false;
  };
  using enum CodePurpose;
  constexpr std::array folders = {Folder{"test", kTest},
                                  Folder{"tests", kTest},
                                  Folder{"testing", kTest},
                                  Folder{"unittest", kTest},
                                  Folder{"unittests", kTest},
                                  Folder{"gtest", kTest},
                                  Folder{"pytest", kTest},
                                  Folder{"bench", kBenchmark},
                                  Folder{"benchs", kBenchmark},
                                  Folder{"benchmark", kBenchmark},
                                  Folder{"benchmarks", kBenchmark},
                                  Folder{"benchmarking", kBenchmark},
                                  Folder{"example", kExample},
                                  Folder{"examples", kExample},
                                  Folder{"sample", kExample, true},  // else what draws tokens
                                  Folder{"samples", kExample},
                                  Folder{"demos", kExample},
                                  Folder{"tutorial", kExample},
                                  Folder{"tutorials", kExample},
                                  Folder{"skills", kExample, true},  // what agents are told
                                  Folder{"doc", kDocument, true},
                                  Folder{"docs", kDocument, true},
                                  Folder{"ci", kTending},
                                  Folder{"scripts", kTending, true},
                                  Folder{"tools", kTending, true}};
  CodePurpose found = kProduct;
  bool root = true;
  for (size_t slash; (slash = path.find('/')) != std::string_view::npos;
       path.remove_prefix(slash + 1), root = false) {
    const std::string_view folder = path.substr(0, slash);
    if (folder.starts_with('.')) found = std::min(found, kTending);
    if (folder.starts_with("test_") || folder.starts_with("tests_") || folder.ends_with("_test") ||
        folder.ends_with("_tests"))
      found = kTest;
    if (folder.starts_with("example_") || folder.starts_with("examples_"))
      found = std::min(found, kExample);
    const auto* known = std::ranges::find(folders, folder, &Folder::name);
    if (known != folders.end() && (root || !known->at_root))
      found = std::min(found, known->purpose);
  }
  const std::string_view stem = path.substr(0, path.find('.'));
  if (stem.starts_with("test_") || stem.ends_with("_test") ||
      is_one_of(stem, {"test", "conftest", "gtest_main"}))
    return kTest;
  if (stem.starts_with("bench_") || stem == "bench" || stem == "benchmark")
    return std::min(found, kBenchmark);
  return path == "setup.py" ? std::min(found, kTending) : found;
}

// Whether a file is for trying, measuring or tending the program and not part of it.
inline bool is_test_or_example(std::string_view path) {
  return purpose_of(path) != CodePurpose::kProduct;
}

inline bool is_test_path(std::string_view path) { return purpose_of(path) == CodePurpose::kTest; }

inline bool is_test_or_benchmark(std::string_view path) {
  return purpose_of(path) <= CodePurpose::kBenchmark;
}

}  // namespace fathom
