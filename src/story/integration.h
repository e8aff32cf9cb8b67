#pragma once

#include <vector>

#include "story/source_outlines.h"
#include "story/story_step.h"

namespace fathom {

// Where a kernel or host function stands in the program: who calls it, how often, and whether its
// time is waited for. What the code does not show is said to be not known.
struct Integration {
  std::vector<StoryStep> callers;     // the outermost first
  std::vector<StoryStep> how_often;   // empty: not known
  std::vector<StoryStep> only_where;  // tests on the way down
  std::vector<StoryStep> overlapped;  // what shows that something runs beside it; empty: not known
};

// `callers` call it, `way_up` are the calls above an only one; `kernel`: where it is one.
// Whether a step of `callers` is a module's forward pass.
bool in_forward_pass(const StoryStep& caller);

Integration integration_of(const CodeFacts& facts, const std::vector<PathHop>& callers,
                           const std::vector<PathHop>& way_up, const KernelFacts* kernel,
                           SourceOutlines& sources);

}  // namespace fathom
