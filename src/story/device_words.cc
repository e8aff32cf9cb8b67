#include "story/device_words.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/text_parts.h"

namespace fathom {

Phrase reduction_phrase(std::string_view callee) {
  const std::string name = small_letters(callee);
  if (!holds(name, "reduce")) return Phrase::kNone;
  const bool sums = holds(name, "sum") || holds(name, "add");
  if (holds(name, "block") || holds(name, "cta"))
    return sums ? Phrase::kBlockSum : Phrase::kBlockReduction;
  if (!holds(name, "warp") && !holds(name, "wave")) return Phrase::kNone;
  return sums                 ? Phrase::kWarpSum
         : holds(name, "max") ? Phrase::kWarpMaximum
         : holds(name, "min") ? Phrase::kWarpMinimum
                              : Phrase::kWarpReduction;
}

bool accumulates(std::string_view text) {
  const size_t adds = text.find("+= ");
  return adds != std::string_view::npos &&
         text.find_first_not_of("0123456789u ", adds + 3) != std::string_view::npos;
}

bool takes_place_in_grid(std::string_view text) {
  return holds(text, "threadIdx") || holds(text, "blockIdx") || holds(text, "this_thread_block") ||
         holds(text, "thread_rank");
}

Phrase place_phrase(std::string_view text) {
  const bool block = holds(text, "blockIdx"),
             thread = holds(text, "threadIdx") || holds(text, "thread_rank");
  if (!block && !thread) return Phrase::kFindsGroup;  // cooperative_groups::this_thread_block()
  if (block == thread) return Phrase::kFindsPlace;
  return block ? Phrase::kFindsBlock : Phrase::kFindsThread;
}

Phrase phrase_of(const std::vector<MemoryAccess>& accesses) {
  const auto first = [&](bool writes) {
    return std::find_if(accesses.begin(), accesses.end(),
                        [&](const MemoryAccess& access) { return access.writes == writes; });
  };
  const auto is_shared = [](const auto& access) { return access->of.memory == Memory::kShared; };
  const auto read = first(false), written = first(true);
  if (written == accesses.end())
    return is_shared(read) ? Phrase::kReadsShared : Phrase::kReadsGlobal;
  const bool to_shared = is_shared(written);
  if (read == accesses.end()) return to_shared ? Phrase::kWritesShared : Phrase::kWritesGlobal;
  if (read->name == written->name)
    return to_shared ? Phrase::kUpdatesShared : Phrase::kUpdatesGlobal;
  if (is_shared(read) == to_shared)
    return to_shared ? Phrase::kReadsAndWritesShared : Phrase::kReadsAndWritesGlobal;
  return to_shared ? Phrase::kGlobalToShared : Phrase::kSharedToGlobal;
}

bool moves_memory(const Words& words) {
  constexpr std::array phrases = {Phrase::kReadsGlobal,          Phrase::kReadsShared,
                                  Phrase::kWritesGlobal,         Phrase::kWritesShared,
                                  Phrase::kUpdatesGlobal,        Phrase::kUpdatesShared,
                                  Phrase::kReadsAndWritesGlobal, Phrase::kReadsAndWritesShared,
                                  Phrase::kGlobalToShared,       Phrase::kSharedToGlobal};
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](Phrase phrase) { return words.is(phrase); });
}

Phrase address_phrase(Memory memory, bool through_index) {
  if (memory == Memory::kShared)
    return through_index ? Phrase::kAddressSharedByIndex : Phrase::kAddressShared;
  return through_index ? Phrase::kAddressGlobalByIndex : Phrase::kAddressGlobal;
}

Phrase shuffle_phrase(std::string_view text) {
  if (holds(text, "max(") || holds(text, "Max")) return Phrase::kWarpMaximum;
  if (holds(text, "min(")) return Phrase::kWarpMinimum;
  const bool adds = holds(text, "+=") || holds(text, "+ __shfl") || holds(text, "reduce_add");
  return adds ? Phrase::kWarpSum : Phrase::kWarpExchange;
}

Phrase group_phrase(std::string_view text) {
  if (holds(text, "::plus")) return Phrase::kGroupSum;
  if (holds(text, "::greater")) return Phrase::kGroupMaximum;
  return Phrase::kGroupReduction;
}

bool does_something(const std::vector<StoryStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const StoryStep& step) {
    return step.inside.empty()
               ? !step.only_computes && !step.words.is(Phrase::kReturns) &&
                     !step.words.is(Phrase::kRepeats) && !step.words.is(Phrase::kEndsWhere) &&
                     !step.words.is(Phrase::kReturnsWhere)
               : does_something(step.inside);
  });
}

const StoryStep* only_deed(const std::vector<StoryStep>& steps) {
  const bool gives_back = steps.size() == 2 && steps[1].words.is(Phrase::kReturns);
  if (steps.empty() || (steps.size() != 1 && !gives_back)) return nullptr;
  return steps[0].inside.empty() ? &steps[0] : nullptr;
}

}  // namespace fathom
