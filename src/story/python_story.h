#pragma once

#include <vector>

#include "story/device_story.h"
#include "story/host_story.h"

namespace fathom {

// A Python function on the way to a launch: checks, choices, calls, the launch where it makes it.
std::vector<StoryStep> python_steps(const HostContext& context, const PythonBody& body);

// What a kernel written in Python (Triton, CuTe) does on the GPU.
DeviceStory python_device_story(const KernelFacts& kernel, SourceOutlines& sources);

}  // namespace fathom
