#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "events/event_store.h"

namespace fathom {

// A CPU op or a runtime or driver call, by its place in the preorder walk of all threads' call
// stacks. A call's descendants are the calls from it up to its subtree's end, so a subtree is a
// range, and so is the GPU work that it launched. Of a recording without launches, each GPU event
// stands for its own launch.
using CallId = StrongId<struct CallTag>;

// Who called what, and which call put which work on the GPU.
class CallTree {
 public:
  size_t size() const { return calls_.size(); }
  EventId event(CallId call) const { return calls_[call.index]; }
  // Invalid for an event that is no call.
  CallId call(EventId event) const { return call_of_event_[event.index]; }
  // Invalid for a root.
  CallId parent(CallId call) const { return parents_[call.index]; }
  // The nearest CPU op at or above a call, or invalid.
  CallId enclosing_op(CallId call) const { return call.valid() ? ops_[call.index] : call; }
  CallId subtree_end(CallId call) const { return CallId(subtree_ends_[call.index]); }
  // The innermost Python frame that was open on the call's thread when it began, or invalid.
  EventId frame(CallId call) const { return frames_[call.index]; }
  // The frame that called a Python frame, or invalid.
  EventId parent_frame(EventId frame) const { return frame_parents_[frame.index]; }

  // GPU work with a launch in the file, in the order of the launches, then of time.
  std::span<const EventId> linked() const { return linked_; }
  // What a call launched itself, and what it launched with all its descendants.
  std::span<const EventId> launched_by(CallId call) const;
  std::span<const EventId> launched_in_subtree(CallId call) const;
  // Recorders of kernels alone tell neither who launched them nor when.
  bool has_launches() const { return has_launches_; }
  // Only PyTorch's profiler and the like record ops.
  bool has_ops() const { return has_ops_; }

  // The call that launched a GPU event, or invalid.
  CallId launch(EventId gpu_event) const { return call_of_event_[gpu_event.index]; }

  // GPU work whose launch is not in the file, in file order.
  std::span<const EventId> unlinked() const { return unlinked_; }

  // What was odd about the nesting and the links.
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  friend CallTree build_call_tree(const EventStore& store);

  void nest_calls(const EventStore& store);
  void link_gpu_work(const EventStore& store);
  void launch_by_itself(const EventStore& store);
  void order_linked(const EventStore& store);

  std::vector<EventId> calls_;
  std::vector<CallId> parents_, ops_;  // ops_: the nearest op at or above
  std::vector<uint32_t> subtree_ends_;
  std::vector<EventId> frames_;

  std::vector<CallId> call_of_event_;   // for calls themselves, and for GPU work its launch
  std::vector<EventId> frame_parents_;  // by event; only Python frames have one

  std::vector<EventId> linked_, unlinked_;
  std::vector<uint32_t> launched_begin_;  // into linked_, by call, with one more at the end
  Diagnostics diagnostics_;
  bool has_launches_ = true, has_ops_ = false;
};

CallTree build_call_tree(const EventStore& store);

}  // namespace fathom
