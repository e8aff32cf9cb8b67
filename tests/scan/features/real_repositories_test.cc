// The rules over real repositories, whose folder FATHOM_SCAN_REPOS names, held against what reading
// them says (real_repositories.tsv).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/tsv.h"
#include "scan/features/file_weight.h"
#include "scan/features/link_features.h"
#include "scan/scan_repository.h"
#include "scan/source_text.h"
#include "test_files.h"

namespace fathom {
namespace {

struct Truth {
  std::set<std::string> found, with_kernels, absent;
};

std::map<std::string, Truth> read_truth() {
  const std::string text =
      test::read_file(test::source_dir() / "tests" / "scan" / "features" / "real_repositories.tsv");
  std::map<std::string, Truth> truth;
  for (const auto& row : read_tsv(text, 4)) {
    Truth& of = truth[std::string(row[0])];
    auto& into = row[1] == "found" ? of.found : row[1] == "kernels" ? of.with_kernels : of.absent;
    into.emplace(row[2]);
  }
  return truth;
}

FileSignals signals_of(const std::filesystem::path& path, const SourceFile& file,
                       SignalFinder& finder) {
  if (!carries_weight(file) || !file.skipped.empty()) return {};
  const auto text = read_source_text(path);
  if (!text.ok()) return {};
  switch (file.language) {
    case Language::kPython:
      return finder.find(python::lex(text.value()));
    case Language::kJinja:
      return finder.find(cpp::lex(cpp::blank_jinja(text.value())));
    case Language::kCpp:
    case Language::kCuda:
    case Language::kHip:
      return finder.find(cpp::lex(text.value()));
    default:
      return {};
  }
}

std::vector<FeatureFacts> features_of(const std::filesystem::path& root, bool& knows_kernels) {
  const CodeFacts facts = scan_repository(root).take();
  const SignalTable table(FeatureRules::built_in());
  SignalFinder finder(table);
  std::vector<FileSignals> signals;
  for (const SourceFile& file : facts.files) {
    signals.push_back(signals_of(root / file.path, file, finder));
  }
  knows_kernels = !facts.kernels.empty();
  return link_features(facts, signals).features;
}

TEST(RealRepositories, FeaturesAreThoseThatReadingFinds) {
  const char* folder = std::getenv("FATHOM_SCAN_REPOS");
  if (folder == nullptr) GTEST_SKIP() << "FATHOM_SCAN_REPOS names no folder of repositories";
  size_t checked = 0;
  for (const auto& [name, truth] : read_truth()) {
    const std::filesystem::path root = std::filesystem::path(folder) / name;
    if (!std::filesystem::is_directory(root)) continue;
    ++checked;
    bool knows_kernels = false;
    std::set<std::string> found;
    for (const FeatureFacts& feature : features_of(root, knows_kernels)) {
      found.insert(feature.id);
      EXPECT_FALSE(feature.evidence.empty()) << feature.id;
      EXPECT_TRUE(truth.found.contains(feature.id) || truth.with_kernels.contains(feature.id))
          << name << ": " << feature.id << " is not known to be right: "
          << (truth.absent.contains(feature.id) ? "absent" : "read the code and list it");
    }
    for (const std::string& feature : truth.found) {
      EXPECT_TRUE(found.contains(feature)) << name << ": " << feature << " not found";
    }
    for (const std::string& feature : truth.with_kernels) {
      EXPECT_TRUE(!knows_kernels || found.contains(feature))
          << name << ": " << feature << " not found, though kernels are known";
    }
  }
  EXPECT_GT(checked, 0u) << folder << " has none of the repositories";
}

TEST(RealRepositories, TruthNamesRules) {
  std::set<std::string> known;
  for (const FeatureRule& rule : FeatureRules::built_in().features()) known.emplace(rule.id);
  EXPECT_EQ(read_truth().size(), 5u);
  for (const auto& [name, truth] : read_truth()) {
    for (const auto* list : {&truth.found, &truth.with_kernels, &truth.absent}) {
      for (const std::string& feature : *list) {
        EXPECT_TRUE(known.contains(feature)) << name << ": " << feature;
      }
    }
    EXPECT_GE(truth.found.size(), 15u) << name;
  }
}

}  // namespace
}  // namespace fathom
