#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/assessment.h"
#include "cost/element_type.h"

// What the patterns read ops by: roles, operands and the calls around.
namespace fathom::patterns {

// data/analysis/roles.tsv has the ops of each.
enum class Role : uint8_t {
  kSoftmax,
  kSoftmaxGradient,
  kAttention,
  kDropout,
  kCopy,
  kCat,
  kOneHot,
  kDiagonal,
  kGather,
  kSort,
  kFirstOfSorted,
  kRepeat,
  kAtomic,
  kCreate,
  kTable,
  kFill,
  kUpdate,
  kFusedUpdate,
  kMakesWeight,
  kPacksWeights,
  kChooses,
  kNeedsWide,
  kFallback,
  kAllocates,
  kCount,
};

// The roles of an op's name, a bit for each.
uint32_t roles_of(std::string_view op);
inline bool has_role(uint32_t roles, Role role) {
  return (roles >> static_cast<uint32_t>(role) & 1) != 0;
}

// An op as patterns see it; all calls of a group have the same arguments.
struct OpView {
  OpArgs args;
  uint32_t roles = 0;
  bool has_double = false, has_float = false,
       has_half = false;  // any tensor of 64, 32, 16 bits, each part of a complex one

  // The n-th argument that is a tensor, or null.
  const ArgValue* tensor(size_t n) const;
  bool has(Role role) const { return has_role(roles, role); }
};

struct ProductSize {
  int64_t batch = 1, m = 0, n = 0, k = 0;
};

class PatternInput {
 public:
  explicit PatternInput(const Assessment& assessment);

  const Assessment& assessment() const { return a_; }
  const EventStore& store() const { return a_.input().store; }
  const CallTree& tree() const { return a_.input().tree; }
  const std::vector<AssessedCall>& calls() const { return a_.calls(); }
  // Each op is read once.
  const OpView& view(const AssessedOp& op) const;
  const OpView& view(const AssessedCall& call) const { return view(*call.assessed); }
  bool has(const AssessedCall& call, Role role) const { return view(call).has(role); }

  // Of a matrix product that has a cost; its sizes as the cost was computed from.
  const std::optional<ProductSize>& product(const AssessedOp& op) const;

  // The nearest call at or above an event whose name has the role; a few calls are looked at.
  std::optional<CallId> around(EventId event, Role role) const;
  bool any_around(EventId event, std::string_view glob) const;
  // The innermost Python frame that is not the framework's; invalid without stacks. It is the call
  // of a function, not its name: what runs in one is one piece of code.
  EventId user_frame(EventId event) const;
  // Names with any of these words, of the op's kernels.
  bool any_kernel(const UnifiedOp& call, std::span<const std::string_view> words) const;
  bool same_thread(const AssessedCall& x, const AssessedCall& y) const {
    return store().track_id(x.op->event) == store().track_id(y.op->event);
  }
  // The step of the time base that a call, or a time, is in.
  size_t step_of(Nanos when) const;
  size_t step_of(const AssessedCall& call) const { return step_of(store().start(call.op->event)); }
  // Tensors that some op takes a part of, without a copy.
  struct CutTensor {
    int64_t elements, width;
    bool is_integer;
    auto operator<=>(const CutTensor&) const = default;
  };
  const std::vector<CutTensor>& cut_tensors() const;
  // How many steps the trace has at most, by marks or ranges; one where there are none.
  size_t steps() const { return steps_; }
  // Whether gradients are computed anywhere in it.
  bool has_backward() const { return has_backward_; }
  // Bytes a second of the GPU's memory that can be reached; none: unknown.
  std::optional<double> memory_rate() const { return memory_rate_; }
  // Units that run blocks: of the platform, else of the trace's GPU.
  std::optional<int64_t> compute_units() const { return compute_units_; }

 private:
  const Assessment& a_;
  mutable std::vector<std::optional<OpView>> views_;  // by op
  mutable std::vector<std::optional<std::optional<ProductSize>>> products_;
  mutable std::optional<std::vector<CutTensor>> cut_;
  std::vector<uint32_t> roles_;  // by name
  std::vector<bool> names_read_;
  size_t steps_ = 1;
  bool has_backward_ = false;
  std::optional<double> memory_rate_;
  std::optional<int64_t> compute_units_;
};

// Bytes of a tensor; none where its type is unknown or it is larger than anything.
std::optional<double> bytes_of(const ArgValue& tensor);
bool is_float_type(const ArgValue& tensor, int bits);
bool is_complex_type(const ArgValue& tensor, int bits);  // of both parts together
bool is_integer_type(const ArgValue& tensor);            // or of truth values
int64_t elements_of(const ArgValue& tensor);

}  // namespace fathom::patterns
