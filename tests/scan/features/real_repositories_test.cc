// The rules over real repositories, whose folder FATHOM_SCAN_REPOS names, held against what reading
// them says (real_repositories.tsv).
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/tsv.h"
#include "checks.h"
#include "scan/features/link_features.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

struct TruePlace {
  std::string what, place;
};

struct Truth {
  std::set<std::string> features, absent, components, no_components;
  std::vector<TruePlace> read;  // features with the file where they are
  std::map<std::string, std::string> claims, claims_absent;  // rule: line of README.md
};

std::map<std::string, Truth> read_truth() {
  const std::string text =
      test::read_file(test::source_dir() / "tests" / "scan" / "features" / "real_repositories.tsv");
  std::map<std::string, Truth> truth;
  for (const auto& row : read_tsv(text, 5)) {
    Truth& of = truth[std::string(row[0])];
    const std::string what(row[2]), place(row[3]);
    if (row[1] == "read") of.read.push_back({what, place});
    if (row[1] == "read" || row[1] == "checked") {
      of.features.insert(what);
    } else if (row[1] == "absent") {
      of.absent.insert(what);
    } else if (row[1] == "component") {
      of.components.insert(what);
    } else if (row[1] == "no_component") {
      of.no_components.insert(what);
    } else if (row[1] == "claim") {
      of.claims[what] = place;
    } else if (row[1] == "claim_absent") {
      of.claims_absent[what] = place;
    } else {
      ADD_FAILURE() << "no expectation: " << row[1];
    }
  }
  return truth;
}

template <typename Parts>
std::set<std::string> ids_of(const Parts& parts) {
  std::set<std::string> ids;
  for (const auto& part : parts) ids.emplace(part.id);
  return ids;
}

void expect_same(const std::string& name, const std::set<std::string>& found,
                 const std::set<std::string>& right) {
  for (const std::string& id : found) {
    EXPECT_TRUE(right.contains(id))
        << name << ": " << id << " is not known to be right: read the code";
  }
  for (const std::string& id : right)
    EXPECT_TRUE(found.contains(id)) << name << ": " << id << " not found";
}

// Whether any evidence or kernel of the feature stands where reading found it.
bool is_shown_at(const CodeFacts& facts, const FeatureFacts& feature, const std::string& place) {
  const auto is_there = [&](uint32_t file) {
    const std::string& path = facts.files[file].path;
    return place.ends_with('/') ? path.starts_with(place) : path == place;
  };
  return std::ranges::any_of(feature.evidence,
                             [&](const auto& e) { return is_there(e.at.file); }) ||
         std::ranges::any_of(feature.kernels, [&](uint32_t kernel) {
           return is_there(facts.kernels[kernel].at.file);
         });
}

void check_claims(const std::string& name, const CodeFacts& facts, const Truth& truth) {
  std::map<std::string, std::string> found, absent;
  for (const ReadmeClaim& claim : facts.readme_claims) {
    if (claim.verdict == ClaimVerdict::kUnknown) continue;
    auto& into = claim.verdict == ClaimVerdict::kFound ? found : absent;
    into[claim.rule] = std::to_string(claim.doc.line);
  }
  EXPECT_EQ(found, truth.claims) << name;
  EXPECT_EQ(absent, truth.claims_absent) << name;
}

}  // namespace

TEST(RealRepositories, PartsAndClaimsAreThoseThatReadingFinds) {
  const char* folder = std::getenv("FATHOM_SCAN_REPOS");
  if (folder == nullptr) GTEST_SKIP() << "FATHOM_SCAN_REPOS names no folder of repositories";
  size_t checked = 0, places = 0, shown = 0;
  for (const auto& [name, truth] : read_truth()) {
    const std::filesystem::path root = std::filesystem::path(folder) / name;
    if (!std::filesystem::is_directory(root)) continue;
    ++checked;
    const CodeFacts facts = scan_repository(root).take();
    expect_same(name, ids_of(facts.features), truth.features);
    expect_same(name, ids_of(facts.components), truth.components);
    check_claims(name, facts, truth);
    for (const TruePlace& read : truth.read) {
      const auto feature = std::ranges::find(facts.features, read.what, &FeatureFacts::id);
      if (feature == facts.features.end()) continue;  // said above
      ++places;
      shown += is_shown_at(facts, *feature, read.place);
    }
  }
  EXPECT_GT(checked, 0u) << folder << " has none of the repositories";
  // Evidence is one place of many; in one of eight cases it is another than a reader would name.
  EXPECT_GE(shown * 100, places * 85) << shown << " of " << places;
}

TEST(RealRepositories, TruthNamesRulesAndDoesNotContradictItself) {
  const std::set<std::string> features = ids_of(FeatureRules::built_in().features());
  const std::set<std::string> components = ids_of(FeatureRules::built_in().components());
  EXPECT_EQ(read_truth().size(), 5u);
  for (const auto& [name, truth] : read_truth()) {
    for (const auto* list : {&truth.features, &truth.absent}) {
      for (const std::string& id : *list) EXPECT_TRUE(features.contains(id)) << name << ": " << id;
    }
    for (const auto* list : {&truth.components, &truth.no_components}) {
      for (const std::string& id : *list)
        EXPECT_TRUE(components.contains(id)) << name << ": " << id;
    }
    for (const std::string& id : truth.absent)
      EXPECT_FALSE(truth.features.contains(id)) << name << ": " << id;
    for (const std::string& id : truth.no_components) {
      EXPECT_FALSE(truth.components.contains(id)) << name << ": " << id;
    }
    EXPECT_GE(truth.read.size(), 15u) << name;
  }
}

}  // namespace fathom
