#pragma once

#include <span>

#include "scan/code_facts.h"
#include "scan/features/feature_rules.h"
#include "scan/features/signal_table.h"

namespace fathom {

struct RecognisedParts {
  std::vector<ComponentFacts> components;  // in the order of the rules
  std::vector<FeatureFacts> features;      // the most certain and most used first
};

// What the rules recognise in a repository whose files, kernels, host functions and options are
// known; signals[i] is of facts.files[i]. A rule that finds no evidence says nothing.
RecognisedParts link_features(const CodeFacts& facts, std::span<const FileSignals> signals,
                              const FeatureRules& rules = FeatureRules::built_in());

}  // namespace fathom
