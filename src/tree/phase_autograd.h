#pragma once

#include <vector>

#include "tree/phase_names.h"

namespace fathom {

// What calls, threads and Python functions tell about the work that they launch.
class CodeKinds {
 public:
  CodeKinds(const EventStore& store, const CallTree& tree);

  // The backward pass and the optimiser, by ops, by the thread of the backward pass, by the kernel
  // or by Python functions; work of forward ops where the trace has a backward pass.
  std::optional<PhaseKind> training(EventId gpu_event) const;
  // By Python functions alone: the outermost that is of a kind. Invalid: none.
  EventId function(EventId gpu_event) const;
  PhaseKind kind_of_function(EventId frame) const;
  bool has_backward() const { return has_backward_; }
  bool is_backward_thread(TrackId track) const { return backward_threads_[track.index]; }

 private:
  enum Flag : uint8_t { kInBackward = 1, kInOptimizer = 2, kNumbered = 4 };

  void mark_calls();
  void mark_threads();
  void mark_frames();
  void mark_kernels();

  const EventStore& store_;
  const CallTree& tree_;
  std::vector<uint8_t> calls_;  // flags
  std::vector<bool> backward_threads_;
  std::vector<bool> optimizer_kernels_;  // by name
  std::vector<EventId> functions_;       // by frame; empty where the trace has none
  bool has_backward_ = false;
};

}  // namespace fathom
