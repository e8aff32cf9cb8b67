#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/assessment.h"
#include "story/run/run_story.h"

namespace fathom {

// What GPU work was for: the modules, ops and kernels that it belongs to.
class WorkLabels {
 public:
  explicit WorkLabels(const Assessment& assessment);

  // Null for work of no assessed op.
  const AssessedOp* op(EventId event) const { return op_[event.index]; }
  // The event's part of what its op's call does; 0 where its time is unknown.
  double part_of_call(EventId event) const;
  // "mm", "copy_", or the function's name of a kernel without an op.
  std::string op_name(EventId event) const;
  // The op as the trace names it; empty: none is known.
  std::string_view full_op_name(EventId event) const;
  // Work of one kind follows each other as one block: "gemm", "pointwise", a kernel's name.
  const std::string& work_class(EventId event) const;
  // Frames of Python modules around the launch, the outermost first.
  std::vector<EventId> modules(EventId event) const;
  // "Attention" of "nn.Module: Attention_3"
  static std::string_view module_class(std::string_view frame_name);
  static bool is_module(std::string_view frame_name);

 private:
  std::string find_class(EventId event) const;
  EventId module_above(EventId frame) const;

  const Assessment& a_;
  const EventStore& store_;
  std::vector<const AssessedOp*> op_;  // by event
  std::vector<Nanos> call_time_;       // by event: of its op's call
  // The nearest module at or above a frame; known once asked for.
  mutable std::unordered_map<uint32_t, EventId> module_;
  mutable std::map<std::pair<StringId, const AssessedOp*>, std::string> classes_;
};

// Consecutive work of a run that belongs together.
struct WorkBlock {
  std::string label;             // class of the work, or of the module
  std::string around;            // class of the layers that it is part of; empty: none
  std::vector<std::string> ops;  // in their order; of many, those that take the most time
  size_t repeats = 1;
  std::vector<EventId> events;
  bool is_mixed = false;  // ops are the longest of many
};

// A run's blocks in the order of their first events; each event is in one.
std::vector<WorkBlock> split_into_blocks(const WorkLabels& labels, const EventStore& store,
                                         const std::vector<EventId>& run);

// Fills a block's ops from its events.
void list_ops(const WorkLabels& labels, const EventStore& store, WorkBlock& block);

// The same by kernel, in no known order of time.
std::vector<WorkBlock> split_by_kernel(const EventStore& store, const std::vector<EventId>& work);

// How a sequence repeats: `times` times `length` tokens from `begin` on.
struct RepeatedUnit {
  size_t begin = 0, length = 0, times = 0;
};
RepeatedUnit find_repeated_unit(const std::vector<uint32_t>& tokens);

}  // namespace fathom
