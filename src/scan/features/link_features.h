#pragma once

#include <span>
#include <vector>

#include "scan/facts/code_facts.h"
#include "scan/features/claim_verdicts.h"
#include "scan/features/feature_rules.h"
#include "scan/features/signal_table.h"

namespace fathom {

struct RecognisedParts {
  std::vector<ComponentFacts> components;  // in the order of the rules
  // The product's before what lies aside, the certain before the likely, what the documentation
  // claims before the rest, and then what is shown by most signals in most files.
  std::vector<FeatureFacts> features;
  std::vector<ReadmeClaim>
      claims;  // in the order of the mentions; their file is left to the caller
};

// What the rules recognise in a repository whose files, kernels, host functions and options are
// known; signals[i] is of facts.files[i]. A rule that finds no evidence says nothing: what the
// README mentions is held against the code, and changes the order alone.
RecognisedParts link_features(const CodeFacts& facts, std::span<const FileSignals> signals,
                              const FeatureRules& rules = FeatureRules::built_in(),
                              std::span<const ReadmeMention> mentions = {});

}  // namespace fathom
