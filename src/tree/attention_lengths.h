#pragma once

#include <vector>

#include "tree/call_tree.h"

namespace fathom {

// How a piece of attention work is used in text generation.
enum class AttentionUse : uint8_t {
  kNone,    // no attention, or nothing tells
  kPrompt,  // many queries
  kToken,   // few queries, many keys: a token is generated
};

// Attention work by the shapes of its op (data/phases/attention_ops.tsv), else by the kernel
// (data/phases/ops.tsv).
class AttentionLengths {
 public:
  AttentionLengths(const EventStore& store, const CallTree& tree);

  AttentionUse use(EventId gpu_event) const;
  // The op that launched attention work, or the work itself where it is known by its name: kernels
  // of one op are one use.
  uint32_t source(EventId gpu_event) const;

 private:
  const EventStore& store_;
  const CallTree& tree_;
  std::vector<CallId> ops_;            // by call: the outermost op of attention with known use
  std::vector<AttentionUse> uses_;     // by call
  std::vector<AttentionUse> kernels_;  // by name
};

}  // namespace fathom
