#pragma once

#include <string>

#include "platform/platform.h"
#include "story/story.h"

namespace fathom {

class SourceOutlines;

// What stories are told for: a workload and a GPU, as far as they are given.
struct StoryContext {
  Parameters parameters;
  const Platform* platform = nullptr;
  std::string kernels;  // pattern of the names that get a story; empty: all
};

// `sources`: the repository's code; null: it is not at hand.
Stories tell_stories(const CodeFacts& facts, const StoryContext& context = {},
                     SourceOutlines* sources = nullptr);

}  // namespace fathom
