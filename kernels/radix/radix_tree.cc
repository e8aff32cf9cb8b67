#include "radix_tree.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "prefix.h"

namespace fathom::radix {

RadixTree::RadixTree() : root_(std::make_unique<Node>()) {}

// Children would otherwise be destroyed by recursion, as deep as the longest chain of nodes.
RadixTree::~RadixTree() {
  std::vector<std::unique_ptr<Node>> left;
  left.push_back(std::move(root_));
  while (!left.empty()) {
    const std::unique_ptr<Node> node = std::move(left.back());
    left.pop_back();
    for (auto& [token, child] : node->children) left.push_back(std::move(child));
  }
}

// The first `length` tokens become a node above. The lower part stays the same object, because a
// Hold points at it.
RadixTree::Node* RadixTree::split(Node* node, size_t length) {
  const auto at = static_cast<std::ptrdiff_t>(length);
  auto upper = std::make_unique<Node>();
  upper->parent = node->parent;
  upper->tokens.assign(node->tokens.begin(), node->tokens.begin() + at);
  upper->slots.assign(node->slots.begin(), node->slots.begin() + at);
  upper->last_use = node->last_use;
  upper->holds = node->holds;
  std::unique_ptr<Node>& place = node->parent->children[node->tokens.front()];
  std::unique_ptr<Node> lower = std::exchange(place, std::move(upper));
  node->tokens.erase(node->tokens.begin(), node->tokens.begin() + at);
  node->slots.erase(node->slots.begin(), node->slots.begin() + at);
  node->parent = place.get();
  Node* result = place.get();
  result->children[node->tokens.front()] = std::move(lower);
  return result;
}

RadixTree::Node* RadixTree::walk(std::span<const Token> tokens, size_t& matched) {
  ++now_;
  Node* node = root_.get();
  matched = 0;
  while (matched < tokens.size()) {
    const auto found = node->children.find(tokens[matched]);
    if (found == node->children.end()) break;
    Node* child = found->second.get();
    const size_t common =
        common_prefix(tokens.subspan(matched), std::span<const Token>(child->tokens));
    node = common < child->tokens.size() ? split(child, common) : child;
    node->last_use = now_;
    matched += common;
  }
  return node;
}

std::vector<Slot> RadixTree::match(std::span<const Token> tokens) {
  size_t matched = 0;
  const Node* last = walk(tokens, matched);
  std::vector<Slot> slots(matched);
  auto end = slots.end();
  for (const Node* node = last; node->parent != nullptr; node = node->parent) {
    end -= static_cast<std::ptrdiff_t>(node->slots.size());
    std::copy(node->slots.begin(), node->slots.end(), end);
  }
  return slots;
}

size_t RadixTree::insert(std::span<const Token> tokens, std::span<const Slot> slots) {
  size_t matched = 0;
  Node* node = walk(tokens, matched);
  if (matched == tokens.size()) return matched;
  auto added = std::make_unique<Node>();
  added->parent = node;
  added->tokens.assign(tokens.begin() + static_cast<std::ptrdiff_t>(matched), tokens.end());
  added->slots.assign(slots.begin() + static_cast<std::ptrdiff_t>(matched), slots.end());
  added->last_use = now_;
  size_ += added->tokens.size();
  node->children[tokens[matched]] = std::move(added);
  return matched;
}

RadixTree::Hold RadixTree::hold(std::span<const Token> tokens) {
  size_t matched = 0;
  Node* last = walk(tokens, matched);
  for (Node* node = last; node->parent != nullptr; node = node->parent) ++node->holds;
  return Hold(last);
}

void RadixTree::release(Hold hold) {
  for (Node* node = hold.node_; node != nullptr && node->parent != nullptr; node = node->parent) {
    --node->holds;
  }
}

std::vector<Slot> RadixTree::evict(size_t count) {
  // Leaves that nobody holds, least recently used first. No two of them were used at the same time:
  // one use touches one path, which has one end.
  const auto later = [](const Node* a, const Node* b) { return a->last_use > b->last_use; };
  std::priority_queue<Node*, std::vector<Node*>, decltype(later)> leaves(later);
  std::vector<Node*> left{root_.get()};
  while (!left.empty()) {
    Node* node = left.back();
    left.pop_back();
    for (auto& [token, child] : node->children) left.push_back(child.get());
    if (node->children.empty() && node->parent != nullptr && node->holds == 0) leaves.push(node);
  }
  std::vector<Slot> freed;
  while (freed.size() < count && !leaves.empty()) {
    Node* node = leaves.top();
    const size_t taken = std::min(count - freed.size(), node->tokens.size());
    freed.insert(freed.end(), node->slots.rbegin(),
                 node->slots.rbegin() + static_cast<std::ptrdiff_t>(taken));
    size_ -= taken;
    if (taken < node->tokens.size()) {
      node->tokens.resize(node->tokens.size() - taken);
      node->slots.resize(node->tokens.size());
      break;
    }
    leaves.pop();
    Node* parent = node->parent;
    parent->children.erase(node->tokens.front());
    if (parent->children.empty() && parent->parent != nullptr && parent->holds == 0) {
      leaves.push(parent);
    }
  }
  return freed;
}

}  // namespace fathom::radix
