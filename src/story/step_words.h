#pragma once

#include <string_view>

namespace fathom {

// A row of data/stories/step_words.tsv: what a step says where its code shows a pattern.
struct StepWords {
  bool action = false;  // else a remark
  std::string_view words;
};

// Null: a pattern that no story speaks of.
const StepWords* step_words(std::string_view pattern);

}  // namespace fathom
