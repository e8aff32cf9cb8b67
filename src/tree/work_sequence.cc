#include "tree/work_sequence.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace fathom {

WorkSequence work_sequence(const EventStore& store, std::span<const EventId> work) {
  WorkSequence sequence;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t> numbers;
  Nanos busy_until = work.empty() ? Nanos{} : store.start(work.front());
  for (const EventId e : work) {
    const Dim3 grid = store.gpu_work(e).grid.value_or(Dim3{});
    const auto number = static_cast<uint32_t>(numbers.size());
    sequence.symbols.push_back(
        numbers.emplace(std::tuple(store.name_id(e).index, grid.x, grid.y, grid.z), number)
            .first->second);
    sequence.times.push_back(store.duration(e));
    sequence.gaps.push_back(std::max(store.start(e) - busy_until, Nanos{}));
    busy_until = std::max(busy_until, store.end(e));
  }
  number_pairs(sequence);
  return sequence;
}

}  // namespace fathom
