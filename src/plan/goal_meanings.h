#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "plan/goal_words.h"
#include "plan/plan.h"
#include "scan/features/feature_rules.h"

// What the words of a goal stand for, by data/plan/ and the words of READMEs in data/features/.
namespace fathom {

struct Meaning {
  GoalPhrase phrase;
  std::vector<std::string_view> targets;  // "feature:x", "kernels"
};

struct GoalTables {
  std::vector<std::pair<GoalPhrase, Question>> questions;
  std::vector<Meaning> meanings;
  std::vector<GoalPhrase> plain;
};

const GoalTables& goal_tables();

// What READMEs call features and components, as meanings of a goal's words.
const std::vector<std::pair<Meaning, const ClaimRule*>>& claim_meanings();

}  // namespace fathom
