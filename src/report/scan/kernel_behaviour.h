#pragma once

#include <string>

#include "scan/facts/code_facts.h"
#include "story/story.h"

namespace fathom {

// What is expected of a kernel in numbers and what could be better about it, as markdown.
std::string kernel_behaviour(const CodeFacts& facts, const KernelFacts& kernel,
                             const KernelStory& told, const Stories& stories);

// "2.0 – 5.0 µs", "1.05 MB", "unknown".
std::string estimate_range(const Estimate& estimate);

}  // namespace fathom
