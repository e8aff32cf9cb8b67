#pragma once

#include <span>
#include <string>
#include <vector>

#include "scan/facts/code_facts.h"
#include "scan/features/feature_rules.h"
#include "scan/features/signal_places.h"

namespace fathom {

// A line of the README that names something a rule knows.
struct ReadmeMention {
  uint32_t claim = 0;  // of FeatureRules::claims()
  uint32_t line = 0;
  std::string said;
};

// What the code says to each of the mentions, given what was recognised in it.
std::vector<ReadmeClaim> judge_mentions(std::span<const ReadmeMention> mentions,
                                        std::span<const FeatureFacts> features,
                                        std::span<const ComponentFacts> components,
                                        const SignalPlaces& places, const FeatureRules& rules);

}  // namespace fathom
