#pragma once

#include "story/host_story.h"

namespace fathom {

// The way of a launch through the functions that lead to it, each as a step that holds its own:
// checks, choices, what the launch is made of, the launch.
LaunchStory launch_story(const HostContext& context, size_t most_steps);

}  // namespace fathom
