#pragma once

#include <string>
#include <vector>

#include "plan/plan_draft.h"

// Which options an experiment varies.
namespace fathom {

struct Sweep {
  uint32_t option = 0;
  const FeatureFacts* feature = nullptr;  // that it affects; null: a size of the workload
  std::vector<std::string> wanted;
};
std::vector<Sweep> sweeps_to_run(const PlanDraft& draft);

bool can_set(const PlanDraft& draft, uint32_t option);
// The command has this option, or another file's of the same name.
bool has_settable(const PlanDraft& draft, const OptionFacts& option);

}  // namespace fathom
