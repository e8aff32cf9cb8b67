#pragma once

#include <string>

#include "platform/platform.h"
#include "scan/facts/code_facts.h"
#include "story/expectation.h"
#include "story/parameters.h"

namespace fathom {

class SourceOutlines;

// What a kernel report is made for: a workload and a GPU, as far as they are given.
struct StoryContext {
  Parameters parameters;
  const Platform* platform = nullptr;
  std::string kernels;                // pattern of the names that get a story; empty: all
  SourceOutlines* sources = nullptr;  // the repository's code; null: stories tell the facts alone
};

// What is expected of a kernel in numbers and what could be better about it, as markdown.
std::string kernel_behaviour(const CodeFacts& facts, const KernelFacts& kernel,
                             const Expectation& expected, const StoryContext& context);

// "2.0 – 5.0 µs", "1.05 MB", "unknown".
std::string estimate_range(const Estimate& estimate);

}  // namespace fathom
