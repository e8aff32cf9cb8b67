#include "analyze/sync_kind.h"

#include <algorithm>
#include <span>

namespace fathom {
namespace {

struct SyncOp {
  std::string_view op;
  SyncKind kind;
};

constexpr std::string_view kItem = ".item()";
constexpr std::string_view kReadsValue = "reads_value", kSizedByValues = "sized_by_values",
                           kChecks = "checks";

// The outermost that is around the wait counts: an index by a mask calls nonzero.
constexpr SyncOp kSyncOps[] = {
    {"aten::item", {kItem, kReadsValue}},
    {"aten::_local_scalar_dense", {kItem, kReadsValue}},
    {"aten::is_nonzero", {"branch on a tensor", kReadsValue}},
    {"aten::nonzero", {"nonzero()", kSizedByValues}},
    {"aten::nonzero_numpy", {"nonzero()", kSizedByValues}},
    {"aten::argwhere", {"argwhere()", kSizedByValues}},
    {"aten::index", {"boolean index", kSizedByValues}},
    {"aten::index_put_", {"assignment by index", kSizedByValues}},
    {"aten::_index_put_impl_", {"assignment by index", kSizedByValues}},
    {"aten::masked_select", {"masked_select()", kSizedByValues}},
    {"aten::repeat_interleave", {"repeat_interleave() with tensor counts", kSizedByValues}},
    {"aten::unique_dim", {"unique()", kSizedByValues}},
    {"aten::_unique2", {"unique()", kSizedByValues}},
    {"aten::unique_consecutive", {"unique_consecutive()", kSizedByValues}},
    {"aten::equal", {"equal()", kReadsValue}},
    {"aten::allclose", {"allclose()", kReadsValue}},
    {"aten::bincount", {"bincount()", kSizedByValues}},
};

constexpr SyncOp kSyncOpsBelow[] = {
    {"aten::_is_any_true", {"anomaly detection", kChecks}},
    {"aten::nonzero", {"nonzero()", kSizedByValues}},
    {"aten::item", {kItem, kReadsValue}},
};

// What a call that is an op does inside of it.
SyncKind kind_below(const SheetInput& input, CallId op) {
  constexpr uint32_t kLookedAt = 64;
  const uint32_t end = std::min(input.tree.subtree_end(op).index, op.index + kLookedAt);
  for (CallId c(op.index); c.index < end; ++c.index) {
    const std::string_view name = input.store.name(input.tree.event(c));
    for (const SyncOp& known : kSyncOpsBelow)
      if (known.op == name) return known.kind;
  }
  return {};
}

// A copy tells its direction by the work that it launched.
SyncKind copy_kind(const SheetInput& input, CallId op) {
  constexpr size_t kLookedAt = 16;
  const std::span<const EventId> work = input.tree.launched_in_subtree(op);
  for (size_t i = 0; i < std::min(kLookedAt, work.size()); ++i) {
    if (input.store.kind(work[i]) != EventKind::kMemcpy) continue;
    const std::string_view name = input.store.name(work[i]);
    if (name.find("DtoH") != std::string_view::npos) return {"copy to the host, .cpu()", "to_host"};
    if (name.find("HtoD") == std::string_view::npos) continue;
    if (name.find("Pageable") != std::string_view::npos)
      return {"copy from pageable memory", "from_pageable"};
    return {"blocking copy to the GPU", "blocking_copy"};
  }
  return {};
}

}  // namespace

SyncKind sync_kind(const SheetInput& input, EventId wait) {
  const std::string_view call_name = input.store.name(wait);
  const CallId call = input.tree.call(wait);
  constexpr size_t kWalked = 32;
  SyncKind kind;
  size_t walked = 0;
  for (CallId c = call; c.valid() && walked < kWalked; c = input.tree.parent(c), ++walked) {
    const std::string_view name = input.store.name(input.tree.event(c));
    for (const SyncOp& op : kSyncOps)
      if (op.op == name) kind = op.kind;
    if (kind.text.empty() && c == call) kind = kind_below(input, c);
    if (kind.text.empty() && (name == "aten::copy_" || name == "aten::_to_copy" || c == call))
      kind = copy_kind(input, c);
    const bool is_item = kind.text == kItem;
    // The engine asks only where anomalies are looked for.
    if (is_item && name.starts_with("autograd::engine::evaluate_function"))
      kind = {"anomaly detection, or a hook", kChecks};
  }
  if (!kind.text.empty()) return kind;
  // Without an op around it the program asked itself.
  const bool in_op = call.valid() && input.tree.enclosing_op(call).valid();
  if (!in_op && call_name.ends_with("DeviceSynchronize") && input.tree.has_ops())
    return {"torch.cuda.synchronize()", "asked_for"};
  return {call_name, {}};
}

}  // namespace fathom
