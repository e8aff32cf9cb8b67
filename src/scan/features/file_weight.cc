#include "scan/features/file_weight.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text_parts.h"
#include "base/tsv.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, 24> kLightFolders = {
    "demos",      "test",      "tests",    "testing",      "unittest",   "unittests",
    "unit_tests", "benchmark", "bench",    "benchmarks",   "example",    "examples",
    "doc",        "docs",      "tutorial", "tutorials",    "ci",         ".github",
    ".buildkite", "samples",   "fuzz",     "test_fixture", "evaluation", "notebooks"};
constexpr std::array<std::string_view, 5> kLightStarts = {"test_", "bench_", "benchmark_",
                                                          "conftest.", "profile_"};
constexpr std::array<std::string_view, 6> kLightEnds = {"_test",      "_tests",      "_bench",
                                                        "_benchmark", "_benchmarks", "_unittest"};

constexpr std::array<std::string_view, 14> kAsideFolders = {
    "demo",  "dev",    "scratch", "sandbox",    "playground", "experiments", "scripts",
    "tools", "legacy", "old",     "deprecated", "research",   "misc",        "cpu"};
constexpr std::array<std::string_view, 7> kReferenceEnds = {
    "_cpu", "_ref", "_reference", "_fake", "_naive", "_golden", "_mock"};

constexpr std::array<std::string_view, 5> kDenyingWords = {"no", "non", "without", "disabled",
                                                           "unsupported"};

// A file that shows how to reproduce a fault.
bool is_reproduction(std::string_view stem) {
  const std::vector<std::string_view> words = split(stem, '_');
  return contains(words, "repro");
}

}  // namespace

FileWeight file_weight(const SourceFile& file) {
  if (file.origin != Origin::kOwn) return FileWeight::kNone;
  if (file.language == Language::kNone || file.language == Language::kMarkdown)
    return FileWeight::kNone;
  std::vector<std::string_view> parts = split(file.path, '/');
  if (parts.empty()) return FileWeight::kNone;
  const std::string_view name = parts.back();
  parts.pop_back();
  const auto in_one_of = [&parts](std::span<const std::string_view> folders) {
    return std::ranges::any_of(parts,
                               [&](std::string_view part) { return is_one_of(part, folders); });
  };
  const std::string_view stem = name.substr(0, name.find('.'));
  const bool light = in_one_of(kLightFolders) || is_one_of(stem, kLightFolders) ||
                     is_reproduction(stem) || starts_with_any(name, kLightStarts) ||
                     ends_with_any(stem, kLightEnds);
  if (light) return FileWeight::kNone;
  return in_one_of(kAsideFolders) ? FileWeight::kAside : FileWeight::kProduct;
}

bool carries_weight(const SourceFile& file) { return file_weight(file) != FileWeight::kNone; }

bool is_stand_in(std::string_view folded) {
  if (ends_with_any(folded, kReferenceEnds)) return true;
  const std::vector<std::string_view> words = split(folded, '_');
  return std::ranges::any_of(words, [](auto word) { return is_one_of(word, kDenyingWords); });
}

}  // namespace fathom
