#pragma once

#include <string>

#include "platform/platform.h"
#include "scan/code_facts.h"
#include "story/expectation.h"
#include "story/parameters.h"

namespace fathom {

// What a kernel report is made for: a workload and a GPU, as far as they are given.
struct StoryContext {
  Parameters parameters;
  const Platform* platform = nullptr;
  std::string kernels;  // pattern of the names that get a story; empty: all
};

// A kernel's execution story, expected hardware behaviour and notes, as markdown below its section.
std::string kernel_story(const CodeFacts& facts, const KernelFacts& kernel,
                         const StoryContext& context);
// The same of a function of the host.
std::string host_story(const CodeFacts& facts, const HostFacts& host, const StoryContext& context);

// "2.0 µs – 5.0 µs", "unknown".
std::string estimate_text(const Estimate& estimate);

}  // namespace fathom
