#include "sheets/work_category.h"

#include <map>

#include "base/kernel_traits.h"
#include "cost/cost.h"
#include "cost/op_catalog.h"
#include "cost/op_category.h"

namespace fathom {
namespace {

constexpr std::string_view kUnknownWork = "other";

}  // namespace

WorkCategories::WorkCategories(const SheetInput& input)
    : input_(input), kernels_(input.store.text_count()) {}

std::string_view WorkCategories::of_kernel(EventId kernel) {
  if (input_.store.kind(kernel) != EventKind::kKernel) return "memcpy";
  std::optional<std::string_view>& known = kernels_[input_.store.name_id(kernel).index];
  if (!known) known = kernel_category(input_.store.name(kernel));
  return *known;
}

std::optional<std::string_view> WorkCategories::of_known(const UnifiedOp& op) const {
  // Where nothing records ops, the name is a kernel's.
  if (!input_.tree.has_ops()) return {};
  const bool in_catalogue = op.forward.valid() || OpCatalog::built_in().find(op.name) != nullptr ||
                            op.name.starts_with("record_param_comms") ||
                            op.name.starts_with("triton");
  const std::string_view category =
      op_category(op.name, in_catalogue ? op.category : kUnknownWork, is_copied(input_.store, op));
  // A template of Inductor's is what its name tells.
  if (category == kUnknownWork || category == "triton") return {};
  return category;
}

std::string_view WorkCategories::of(const UnifiedOp& op) {
  if (const auto known = of_known(op)) return *known;
  std::map<std::string_view, Nanos> times;
  Nanos all;
  for (const EventId kernel : op.kernels) {
    times[of_kernel(kernel)] += input_.store.duration(kernel);
    all += input_.store.duration(kernel);
  }
  for (const auto& [category, time] : times) {
    if (times.size() == 1 || time > all - time) return category;
  }
  return kUnknownWork;
}

std::string_view WorkCategories::of(const UnifiedOp& op, EventId kernel) {
  if (const auto known = of_known(op)) return *known;
  return of_kernel(kernel);
}

}  // namespace fathom
