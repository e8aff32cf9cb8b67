#pragma once

#include <cstddef>
#include <vector>

namespace fathom {

// Which of `count` variants runs next, for `rounds` rounds: each once in a round, and every second
// round backwards (A B C, C B A). A drift that is linear in time then adds the same to all.
inline std::vector<size_t> interleaved(size_t count, size_t rounds) {
  std::vector<size_t> order;
  order.reserve(count * rounds);
  for (size_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < count; ++i) order.push_back(round % 2 == 0 ? i : count - 1 - i);
  }
  return order;
}

}  // namespace fathom
