#include "scan/features/file_weight.h"

#include <algorithm>
#include <array>

#include "base/tsv.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, 24> kLightFolders = {
    "test",      "tests",    "testing",      "unittest",   "unittests", "unit_tests",
    "benchmark", "bench",    "benchmarks",   "example",    "examples",  "doc",
    "docs",      "tutorial", "tutorials",    "ci",         ".github",   ".buildkite",
    "samples",   "fuzz",     "test_fixture", "evaluation", "profiler",  "notebooks"};
constexpr std::array<std::string_view, 5> kLightStarts = {"test_", "bench_", "benchmark_",
                                                          "conftest.", "profile_"};
constexpr std::array<std::string_view, 6> kLightEnds = {"_test",      "_tests",      "_bench",
                                                        "_benchmark", "_benchmarks", "_unittest"};

}  // namespace

bool carries_weight(const SourceFile& file) {
  if (file.origin != Origin::kOwn) return false;
  if (file.language == Language::kNone || file.language == Language::kMarkdown) return false;
  std::vector<std::string_view> parts = split(file.path, '/');
  if (parts.empty()) return false;
  const std::string_view name = parts.back();
  parts.pop_back();
  for (const std::string_view folder : parts) {
    if (std::ranges::find(kLightFolders, folder) != kLightFolders.end()) return false;
  }
  const std::string_view stem = name.substr(0, name.find('.'));
  if (std::ranges::find(kLightFolders, stem) != kLightFolders.end()) return false;
  return std::ranges::none_of(kLightStarts, [&](auto start) { return name.starts_with(start); }) &&
         std::ranges::none_of(kLightEnds, [&](auto end) { return stem.ends_with(end); });
}

}  // namespace fathom
