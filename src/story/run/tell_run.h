#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "sheets/kernel_contexts.h"
#include "story/run/run_story.h"

namespace fathom {

// Which part is told. Globs without regard to letter case; empty: all.
struct StorySelection {
  std::string phase, op, kernel, module;
  std::string steps = {};  // of the scope, as asked for; the scope has chosen them

  bool filters_work() const { return !op.empty() || !kernel.empty() || !module.empty(); }
  bool empty() const { return phase.empty() && !filters_work(); }
};

// What code does in a kernel: a line of its story.
struct CodeStep {
  std::string what, place;
  StoryMark mark = StoryMark::kCodeFact;
};

// Of a kernel that was asked for.
using CodeSteps = std::function<std::vector<CodeStep>(const KernelContext&)>;

// A GPU that the recording has work of.
struct UsedGpu {
  int32_t device = 0;
  Nanos busy;
  size_t events = 0;
};

struct RunFacts {
  const SheetInput& input;
  const Assessment& assessment;
  const std::vector<Finding>& findings;
  const std::vector<KernelContext>& contexts;  // of launch_contexts
  std::string title, gpu, software;            // as reports show them; may be empty
  StorySelection selection;
  bool has_timeline = true;  // false: of counters alone
  // The GPU that is told, then the others; empty where there is one.
  std::vector<UsedGpu> gpus = {};
  CodeSteps code_steps = {};  // may be empty

  // Of some ops or kernels, gaps say nothing.
  bool has_idle_time() const { return has_timeline && !selection.filters_work(); }
};

// Fails where the selection is of nothing, with the nearest names.
Result<RunStory> tell_run(const RunFacts& facts);

}  // namespace fathom
