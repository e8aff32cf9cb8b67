#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sheets/kernel_contexts.h"
#include "story/run/run_story.h"

// What is told of one kernel, in the lines of its block and in its own.
namespace fathom {

StoryEvidence evidence_of_kernel(const KernelContext& kernel, const EventStore& store,
                                 std::vector<std::string> metrics);
// Its place in the code; none: not known.
std::optional<StoryLine> source_line(const KernelContext& kernel);
// That its counters were measured in another state of the GPU; none: they fit, or there are none.
std::optional<StoryLine> untrusted_line(const KernelContext& kernel, const EventStore& store);

// The values of a confirmed hypothesis and its fix, as lines.
StoryLine explained_line(const KernelContext& kernel, const TestedHypothesis& tested,
                         const EventStore& store);
StoryLine advice_line(const KernelContext& kernel, const TestedHypothesis& tested,
                      const EventStore& store);

}  // namespace fathom
