#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace fathom {

// A sequence of GPU work as numbers: equal numbers mean the same kernel.
struct WorkSequence {
  std::vector<uint32_t> symbols;  // dense: below the number of different ones
  std::vector<Nanos> times;       // how long each ran
  std::vector<Nanos> gaps;        // how long nothing ran before each
  std::vector<uint32_t> pairs;    // numbers of a symbol with the one before it: number_pairs
};

void number_pairs(WorkSequence& sequence);

// A run of a repeated part: positions from begin to before end.
struct RepeatedPart {
  size_t begin = 0, end = 0;
};

// The runs of the longest part that repeats: steps rather than the layers inside them. Runs may
// differ a little. Empty where repeats do not make up most of the time.
std::vector<RepeatedPart> find_repetition(const WorkSequence& sequence);

// Of parts that are given, those that are alike: most of them, else none.
std::vector<RepeatedPart> alike_parts(const WorkSequence& sequence,
                                      std::span<const RepeatedPart> parts);

}  // namespace fathom
