#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace fathom {

// Many sequences of symbols, and in which of them another stands: a suffix automaton, whose size
// and cost are those of the sequences together (times the logarithm of the symbols).
class SequenceIndex {
 public:
  using Symbol = uint32_t;

  SequenceIndex();
  // Numbered from 0 in the order they are added.
  void add(std::span<const Symbol> sequence);
  // To be called once, when all are added.
  void finish();
  // The last added of those that contain the sequence without a gap; `sequence` was added itself.
  size_t last_container(std::span<const Symbol> sequence) const;

 private:
  using State = uint32_t;
  struct Node {
    std::map<Symbol, State> moves;
    State link = 0;     // the state of its longest suffix that is not in it
    size_t length = 0;  // of its longest text
    size_t last = 0;    // the last sequence that has it
  };

  State split(State from, Symbol symbol, State to);
  State extend(State from, Symbol symbol);

  std::vector<Node> nodes_;  // the first is the empty text
  size_t sequences_ = 0;
};

}  // namespace fathom
