#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/op_args.h"
#include "events/statistics.h"
#include "sheets/gpu_selection.h"

namespace fathom {

struct ReplayTensor {
  enum class Place { kDevice, kPinned, kPageable };
  std::vector<int64_t> dims, strides;
  std::string_view dtype;  // torch's name
  Place place = Place::kDevice;
  bool parameter = false;  // of a parameter's sizes: made long before the call
};

// One argument as a call needs it.
struct ReplayArgument {
  enum class Kind { kValue, kTensor, kTensors };
  Kind kind = Kind::kValue;
  std::vector<ReplayTensor> tensors;  // one, or those of a list
  std::string value = "None";         // a Python literal
};

// Calls of an op with the same arguments.
struct ReplayCase {
  std::string call;  // the operator to call: is_operator_name() holds
  std::vector<ReplayArgument> arguments;
  OpArgs recorded;
  bool list_type_known = true;       // false: the type of a list's tensors is an assumption
  bool lists_found = false;          // a list follows from other events than the op's own
  std::vector<std::string> kernels;  // of the first call, in the order of time
  TimeStatistics time;               // busy time of the kernels, call by call
};

// Calls that cannot be made again from what the trace says of them.
struct ReplayRefusal {
  enum class Reason { kNoOperator, kNoShapes, kListLeftOut, kBadShape };
  Reason reason;
  size_t calls = 0;
  Nanos time;
};

struct ReplayOp {
  std::string name;
  size_t calls = 0;
  Nanos time;
  std::vector<ReplayCase> cases;        // by total time
  std::vector<ReplayRefusal> refusals;  // one for each reason
};

struct ReplayOps {
  std::vector<ReplayOp> ops;  // by total time
  Nanos whole;                // parts: the ops
};

// The ops of unified_perf_summary. An op that is none of PyTorch's operators, such as an autograd
// node, stands for the operator below it that did all of its GPU work, where there is one. Of these
// names only, where there are any.
ReplayOps find_replay_ops(const SheetInput& input, std::span<const std::string_view> wanted = {});

// "has no shapes", to go on after the op's name.
std::string_view describe(ReplayRefusal::Reason reason);

}  // namespace fathom
