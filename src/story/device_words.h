#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "story/memory_names.h"
#include "story/story_step.h"

namespace fathom {

// What is said of pieces of device code.

bool holds_word(std::string_view text, std::string_view word);
// Whether code asks which thread or block it is.
bool takes_place_in_grid(std::string_view text);
std::string memory_name(Memory memory);
// "reads from global memory", "reads from global memory and writes to shared memory"
std::string words_of(const std::vector<MemoryAccess>& accesses);
// What a shuffle in a statement is for: a sum, a maximum, or only an exchange.
std::string shuffle_words(std::string_view text);

// The same of a reduction over a cooperative group.
std::string group_words(std::string_view text);

// Whether steps do more than compute and test.
bool does_something(const std::vector<StoryStep>& steps);
// The only step there is, where it is one deed; null: several are, or none.
const StoryStep* only_deed(const std::vector<StoryStep>& steps);

}  // namespace fathom
