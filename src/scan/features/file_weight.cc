#include "scan/features/file_weight.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text_parts.h"
#include "base/tsv.h"
#include "scan/files/code_purpose.h"

namespace fathom {
namespace {

// Beside what purpose_of() knows.
constexpr std::array<std::string_view, 10> kLightFolders = {
    "unit_tests", "doc",  "docs",         "ci",         ".github",
    ".buildkite", "fuzz", "test_fixture", "evaluation", "notebooks"};
constexpr std::array<std::string_view, 2> kLightStarts = {"benchmark_", "profile_"};
constexpr std::array<std::string_view, 5> kLightEnds = {"_tests", "_bench", "_benchmark",
                                                        "_benchmarks", "_unittest"};

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
  const CodePurpose purpose = purpose_of(file.path);
  const bool light = (purpose != CodePurpose::kProduct && purpose != CodePurpose::kTending) ||
                     in_one_of(kLightFolders) || is_one_of(stem, kLightFolders) ||
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
