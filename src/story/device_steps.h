#pragma once

#include <map>
#include <set>
#include <vector>

#include "story/memory_names.h"
#include "story/opened_calls.h"
#include "story/story_step.h"
#include "story/template_values.h"

namespace fathom {

// What the steps of one kernel share.
struct DeviceContext {
  const KernelFacts& kernel;
  OpenedCalls calls;
  size_t statements_left;                       // of functions that are opened, however often
  std::set<const cpp::Function*> to_open = {};  // those that there is room for
  // Met and not opened, in order, with how many things they do.
  std::vector<std::pair<const CppBody*, size_t>> unopened = {};
  std::map<const cpp::Function*, std::vector<Saying>> deeds = {};
  std::map<const cpp::Function*, CodePlace> opened = {};  // where each was opened first
  std::set<const cpp::Function*> being_told = {};         // each inside the one before
  bool width_said = false;
};

// The steps of a function's body on the GPU: what it reads, writes, waits for and computes, calls
// among `to_open` with the steps of what they call inside. `depth`: calls around it that are open.
std::vector<StoryStep> device_steps(DeviceContext& context, const CppBody& body, MemoryNames memory,
                                    TemplateValues values, int depth = 0);

}  // namespace fathom
