#pragma once

#include <vector>

#include "analyze/finding.h"

namespace fathom {

// Puts symptoms under their causes. Of two findings about the same GPU work, the one that tells
// more of why is the cause: a pattern before exposed copies or a chain of ops, and these before an
// op's efficiency. It must bear much of the other's saving. Of two that tell as much, the one that
// saves more is the cause. Short kernels are a symptom of late launches.
//
// Findings come in their order. A cause takes the place of its first symptom, which follow it, and
// is as urgent as the most urgent of them.
void list_symptoms_under_causes(std::vector<Finding>& findings);

// Launches that are late behind waits inside a step are what is left of being ahead: the host can
// neither run ahead nor replay a graph before the waits are gone. Such waits, several in a step,
// come before what is as urgent, if they cost anything. `steps` is 0 where there are none.
void put_waits_before_late_launches(std::vector<Finding>& findings, size_t steps, Nanos length);

// A function of the host that launches nothing tells more than that launches are late: it comes
// before what is as urgent, if it is much of that.
void put_functions_before_late_launches(std::vector<Finding>& findings);

}  // namespace fathom
