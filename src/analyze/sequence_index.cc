#include "analyze/sequence_index.h"

#include <algorithm>
#include <numeric>

namespace fathom {
namespace {

constexpr uint32_t kRoot = 0, kNone = UINT32_MAX;

}  // namespace

SequenceIndex::SequenceIndex() { nodes_.emplace_back().link = kNone; }

// The part of state `to` whose texts end what `from` holds: the same state where that is all of it.
SequenceIndex::State SequenceIndex::split(State from, Symbol symbol, State to) {
  if (nodes_[from].length + 1 == nodes_[to].length) return to;
  const auto part = static_cast<State>(nodes_.size());
  Node copy = nodes_[to];
  copy.length = nodes_[from].length + 1;
  nodes_.push_back(std::move(copy));
  nodes_[to].link = part;
  for (; from != kNone; from = nodes_[from].link) {
    const auto move = nodes_[from].moves.find(symbol);
    if (move == nodes_[from].moves.end() || move->second != to) break;
    move->second = part;
  }
  return part;
}

SequenceIndex::State SequenceIndex::extend(State from, Symbol symbol) {
  const auto known = nodes_[from].moves.find(symbol);
  if (known != nodes_[from].moves.end()) return split(from, symbol, known->second);
  const auto made = static_cast<State>(nodes_.size());
  Node node;
  node.length = nodes_[from].length + 1;
  nodes_.push_back(std::move(node));
  while (from != kNone && nodes_[from].moves.try_emplace(symbol, made).second) {
    from = nodes_[from].link;
  }
  const State link = from == kNone ? kRoot : split(from, symbol, nodes_[from].moves[symbol]);
  nodes_[made].link = link;
  return made;
}

void SequenceIndex::add(std::span<const Symbol> sequence) {
  State at = kRoot;
  for (Symbol symbol : sequence) {
    at = extend(at, symbol);
    nodes_[at].last = sequences_;
  }
  ++sequences_;
}

void SequenceIndex::finish() {
  // A text that ends another is in every sequence that the other is in.
  std::vector<State> by_length(nodes_.size());
  std::iota(by_length.begin(), by_length.end(), State{0});
  std::ranges::sort(by_length, std::greater(), [this](State s) { return nodes_[s].length; });
  for (State state : by_length) {
    if (const State link = nodes_[state].link; link != kNone) {
      nodes_[link].last = std::max(nodes_[link].last, nodes_[state].last);
    }
  }
}

size_t SequenceIndex::last_container(std::span<const Symbol> sequence) const {
  State at = kRoot;
  for (Symbol symbol : sequence) at = nodes_[at].moves.find(symbol)->second;
  return nodes_[at].last;
}

}  // namespace fathom
