// A radix tree over token sequences, as a cache of K and V rows needs it: each token of a kept
// sequence has a slot. Sequences in use are held by a reference count; evict() frees slots from the
// ends of sequences, least recently used first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace fathom::radix {

using Token = int32_t;
using Slot = int32_t;

class RadixTree {
  struct Node;

 public:
  // Keeps its prefix from being evicted until release() takes it back; moved, not copied.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
    Hold& operator=(Hold&& other) = delete;

   private:
    friend class RadixTree;
    explicit Hold(Node* node) : node_(node) {}
    Node* node_ = nullptr;
  };

  RadixTree();
  ~RadixTree();
  RadixTree(const RadixTree&) = delete;
  RadixTree& operator=(const RadixTree&) = delete;

  // The slots of the longest prefix of `tokens` that is kept; counts as use of that prefix.
  std::vector<Slot> match(std::span<const Token> tokens);
  // Keeps `tokens`, which has as many slots. Returns how many leading tokens were there already:
  // those keep their slots, and the caller may free the ones it brought. Counts as use.
  size_t insert(std::span<const Token> tokens, std::span<const Slot> slots);
  // Holds the longest prefix of `tokens` that is kept; counts as use.
  Hold hold(std::span<const Token> tokens);
  void release(Hold hold);
  // Forgets up to `count` tokens that nobody holds and returns their slots, in the order in which
  // they were given up: always the last token of a sequence, of the least recently used one.
  std::vector<Slot> evict(size_t count);

  size_t size() const { return size_; }  // tokens kept

 private:
  // Every token of a node was last used at the same time and is held by the same number: what ends
  // inside of a node splits it first.
  struct Node {
    Node* parent = nullptr;
    std::vector<Token> tokens;
    std::vector<Slot> slots;
    std::map<Token, std::unique_ptr<Node>> children;  // by first token
    uint64_t last_use = 0;
    uint64_t holds = 0;
  };

  // The node that the longest kept prefix ends with, split off where needed, all of it marked as
  // used now; and that prefix's length.
  Node* walk(std::span<const Token> tokens, size_t& matched);
  Node* split(Node* node, size_t length);

  std::unique_ptr<Node> root_;
  uint64_t now_ = 0;
  size_t size_ = 0;
};

}  // namespace fathom::radix
