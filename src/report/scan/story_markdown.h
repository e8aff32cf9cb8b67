#pragma once

#include <string>
#include <vector>

#include "story/story_step.h"

namespace fathom {

// Steps as a numbered list, one inside the other. A step of the file that its surroundings stand in
// has the file's name and line as its place, any other the whole path.
std::string story_list(const CodeFacts& facts, const std::vector<StoryStep>& steps,
                       std::optional<uint32_t> file = std::nullopt,
                       const WordTable& words = WordTable::built_in());
// One step without a number.
std::string story_line(const CodeFacts& facts, const StoryStep& step,
                       std::optional<uint32_t> file = std::nullopt,
                       const WordTable& words = WordTable::built_in());

}  // namespace fathom
