#pragma once

#include <vector>

#include "story/parameters.h"
#include "story/source_outlines.h"
#include "story/story_step.h"

namespace fathom {

// What a host function does before, at and after a launch, or for itself.
struct HostContext {
  const CodeFacts& facts;
  SourceOutlines& sources;
  const Parameters& parameters;
  const KernelFacts* kernel = nullptr;  // whose launch is told; null: none's
  const KernelLauncher* launcher = nullptr;
};

// The function's statements as steps: checks, choices, values that a launch is made of, copies,
// library calls with their error checks, launches.
std::vector<StoryStep> host_steps(const HostContext& context, const CppBody& body);

// The launch itself, with what the grid and block are made of as numbers where they are known.
StoryStep launch_step(const HostContext& context);

// "→ 128" beside a value that the parameters and the code's own values make known.
void add_derived(const HostContext& context, std::string_view name, std::string_view text,
                 StoryStep& step);

// Whether a function's name says that it checks something.
bool names_check(std::string_view name);

}  // namespace fathom
