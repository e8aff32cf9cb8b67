#pragma once

#include <vector>

#include "story/source_outlines.h"
#include "story/story_step.h"

namespace fathom {

// What a kernel written in C++ does on the GPU, from its own statements and those of the functions
// it calls; `launcher` says what its template parameters are, where it is known.
DeviceStory device_story(const CodeFacts& facts, const KernelFacts& kernel,
                         const KernelLauncher* launcher, SourceOutlines& sources);

}  // namespace fathom
