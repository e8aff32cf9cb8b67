#include "story/step_words.h"

#include <map>

#include "base/tsv.h"

extern const std::string_view step_words_tsv;

namespace fathom {

const StepWords* step_words(std::string_view pattern) {
  static const std::map<std::string_view, StepWords> table = [] {
    std::map<std::string_view, StepWords> out;
    for (const auto& row : read_tsv(step_words_tsv, 3)) out[row[0]] = {row[1] == "action", row[2]};
    return out;
  }();
  const auto found = table.find(pattern);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace fathom
