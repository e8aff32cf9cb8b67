#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "replay/replay_ops.h"

namespace fathom {

// The tensors of arguments that the trace leaves out, by the argument's place.
using FoundLists = std::map<size_t, std::vector<ReplayTensor>>;

// Kineto records no list of more than 30 tensors, and none of optional tensors such as the indices
// of aten::index. What some of them held follows from other events of the same trace.
class HiddenLists {
 public:
  explicit HiddenLists(const SheetInput& input);

  // Nothing where the op hides no list, or where the events do not agree about it.
  std::optional<FoundLists> find(EventId op, std::span<const EventId> kernels) const;
  // Whether a gradient of these sizes was accumulated: the sizes of a parameter.
  bool is_parameter(const std::vector<int64_t>& dims) const {
    return parameter_sizes_.contains(dims);
  }

 private:
  std::optional<FoundLists> index_lists(EventId op, const OpArgs& recorded) const;
  std::optional<FoundLists> parameter_lists(EventId op, const OpArgs& recorded,
                                            std::span<const EventId> kernels) const;
  std::span<const EventId> gradients_before(EventId op) const;

  const SheetInput& input_;
  std::vector<EventId> gradients_;   // accumulated into parameters, in the order of time
  std::vector<EventId> optimizers_;  // ops of parameter_lists.tsv, likewise
  std::set<std::vector<int64_t>> parameter_sizes_;
};

// "1: [502]", to tell calls apart that differ in nothing else.
std::string lists_text(const FoundLists& lists);

}  // namespace fathom
