#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan_draft.h"

namespace fathom {

struct ChosenProbe {
  const ProbePlace* place = nullptr;
  std::string_view what;  // its calls tell
};

// Functions to probe for a feature or metric, by data/plan/probes.tsv: the first alternative that
// the code has, in the file with the feature's evidence where there is one.
std::vector<ChosenProbe> probes_for(const PlanDraft& draft, std::string_view id);
// The steps of the request path that can be probed, the last first: what launches the kernels.
std::vector<ChosenProbe> probes_on_path(const PlanDraft& draft);
// A C++ function of the host, by its name with scope; empty: it cannot be probed.
std::string native_probe_of(const HostFacts& host);

}  // namespace fathom
