#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scan/features/link_features.h"

namespace fathom::test {

// A small repository that exists in memory: source files, and facts that other readers find.
struct SmallRepository {
  struct File {
    std::string path, text;
  };
  std::vector<File> files;
  std::vector<std::string> facts;  // "kernel NAME", "dead_kernel NAME", "pattern ID", "option NAME"
};

// A rule with code that must make it fire and a near twin that must not.
struct RulePair {
  std::string rule, where;  // where: file and line of the pair
  SmallRepository fires, silent;
};

// Of tests/scan/features/*.pairs; `component` says whether those of components.pairs or the others.
std::vector<RulePair> read_pairs(bool components);

CodeFacts facts_of(const SmallRepository& repository);
RecognisedParts recognise(const SmallRepository& repository,
                          const FeatureRules& rules = FeatureRules::built_in());

}  // namespace fathom::test
