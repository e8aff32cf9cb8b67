#pragma once

#include <string>

#include "platform/platform.h"
#include "scan/code_facts.h"
#include "story/parameters.h"

namespace fathom {

// What a kernel report is made for: a workload and a GPU, as far as they are given.
struct StoryContext {
  Parameters parameters;
  const Platform* platform = nullptr;
  std::string
      kernels;  // pattern of the names that get a story; empty: all, where they are not many
};

// A kernel's execution story, expected hardware behaviour and notes, as markdown below its section.
std::string kernel_story(const CodeFacts& facts, const KernelFacts& kernel,
                         const StoryContext& context);
// The same of a function of the host.
std::string host_story(const CodeFacts& facts, const HostFacts& host, const StoryContext& context);

// "memory", "latency" … for the summary table; empty: unknown.
std::string expected_side(const KernelFacts& kernel, const StoryContext& context);
// "2.0–5.0 µs"; empty: unknown.
std::string expected_time(const KernelFacts& kernel, const StoryContext& context);

}  // namespace fathom
