#include "story/device_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {

bool holds_word(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

bool takes_place_in_grid(std::string_view text) {
  return holds_word(text, "threadIdx") || holds_word(text, "blockIdx") ||
         holds_word(text, "this_thread_block") || holds_word(text, "thread_rank");
}

std::string memory_name(Memory memory) {
  return memory == Memory::kShared ? "shared memory" : "global memory";
}

std::string words_of(const std::vector<MemoryAccess>& accesses) {
  const auto first = [&](bool writes) {
    return std::find_if(accesses.begin(), accesses.end(),
                        [&](const MemoryAccess& access) { return access.writes == writes; });
  };
  const auto read = first(false), written = first(true);
  if (written == accesses.end()) return "reads from " + memory_name(read->of.memory);
  if (read == accesses.end()) return "writes to " + memory_name(written->of.memory);
  if (read->name == written->name) return "updates " + memory_name(written->of.memory);
  if (read->of.memory == written->of.memory)
    return "reads from and writes to " + memory_name(written->of.memory);
  return fmt::format("reads from {} and writes to {}", memory_name(read->of.memory),
                     memory_name(written->of.memory));
}

std::string shuffle_words(std::string_view text) {
  if (holds_word(text, "max(") || holds_word(text, "Max"))
    return "takes the maximum across the warp";
  if (holds_word(text, "min(")) return "takes the minimum across the warp";
  const bool adds =
      holds_word(text, "+=") || holds_word(text, "+ __shfl") || holds_word(text, "reduce_add");
  return adds ? "sums across the warp" : "exchanges values across the warp";
}

std::string group_words(std::string_view text) {
  if (holds_word(text, "cg::plus")) return "sums across the group of threads";
  if (holds_word(text, "cg::greater")) return "takes the maximum across the group of threads";
  return "reduces across the group of threads";
}

bool does_something(const std::vector<StoryStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const StoryStep& step) {
    return step.inside.empty()
               ? !step.only_computes && step.words != "gives back" && step.words != "repeats" &&
                     !step.words.starts_with("ends here") &&
                     !step.words.starts_with("gives back early")
               : does_something(step.inside);
  });
}

const StoryStep* only_deed(const std::vector<StoryStep>& steps) {
  const bool gives_back = steps.size() == 2 && steps[1].words == "gives back";
  if (steps.empty() || (steps.size() != 1 && !gives_back)) return nullptr;
  return steps[0].inside.empty() ? &steps[0] : nullptr;
}

}  // namespace fathom
