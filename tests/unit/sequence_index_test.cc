#include "analyze/sequence_index.h"

#include <algorithm>
#include <random>

#include "checks.h"

namespace fathom {
namespace {

using Sequence = std::vector<SequenceIndex::Symbol>;

// Random sequences over few symbols, so that many contain each other, against a search of each in
// each.
TEST(SequenceIndex, FindsTheLastThatContainsASequence) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Sequence> sequences;
    SequenceIndex index;
    for (int i = 0; i < 40; ++i) {
      Sequence& sequence = sequences.emplace_back(1 + random() % 12);
      for (auto& symbol : sequence) symbol = static_cast<SequenceIndex::Symbol>(random() % 3);
      index.add(sequence);
    }
    index.finish();
    for (const Sequence& sequence : sequences) {
      size_t last = 0;
      for (size_t i = 0; i < sequences.size(); ++i) {
        if (!std::ranges::search(sequences[i], sequence).empty()) last = i;
      }
      EXPECT_EQ(index.last_container(sequence), last);
    }
  }
}

}  // namespace
}  // namespace fathom
