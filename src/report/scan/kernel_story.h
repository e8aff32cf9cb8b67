#pragma once

#include <string>

#include "scan/facts/code_facts.h"
#include "story/story.h"

namespace fathom {

// A kernel's execution story, expected hardware behaviour and notes, as markdown below its section.
std::string kernel_story(const CodeFacts& facts, const KernelFacts& kernel, const KernelStory& told,
                         const Stories& stories);
// The same of a function of the host.
std::string host_story(const CodeFacts& facts, const HostFacts& host, const HostStory& told);

}  // namespace fathom
