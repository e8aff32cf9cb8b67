#pragma once

#include <string>

#include "report/scan/kernel_behaviour.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// A kernel's execution story, expected hardware behaviour and notes, as markdown below its section.
std::string kernel_story(const CodeFacts& facts, const KernelFacts& kernel,
                         const StoryContext& context);
// The same of a function of the host.
std::string host_story(const CodeFacts& facts, const HostFacts& host, const StoryContext& context);

}  // namespace fathom
