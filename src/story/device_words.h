#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "story/memory_names.h"
#include "story/story_step.h"

namespace fathom {

// What is said of pieces of device code.

// Whether code asks which thread or block it is.
// warp_reduce_max(x), block_reduce<Method::SUM>(x): what a function is for by its name, with its
// template arguments; kNone: it is no reduction of a warp or block.
Phrase reduction_phrase(std::string_view callee);

// "sum += a * b", and no counter that goes up by a number.
bool accumulates(std::string_view text);

bool takes_place_in_grid(std::string_view text);
// Of such a text: its thread's place in the grid, its block's, or its thread's in the block.
Phrase place_phrase(std::string_view text);
// What accesses do: read or write one kind of memory, or move from one to the other.
Phrase phrase_of(const std::vector<MemoryAccess>& accesses);
// Whether it is one of those.
bool moves_memory(const Words& words);
Phrase address_phrase(Memory memory, bool through_index);
// What a shuffle in a statement is for: a sum, a maximum, or only an exchange.
Phrase shuffle_phrase(std::string_view text);

// The same of a reduction over a cooperative group.
Phrase group_phrase(std::string_view text);

// Whether steps do more than compute and test.
bool does_something(const std::vector<StoryStep>& steps);
// The only step there is, where it is one deed; null: several are, or none.
const StoryStep* only_deed(const std::vector<StoryStep>& steps);

}  // namespace fathom
