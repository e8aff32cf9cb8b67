#include "cost/op_catalog.h"

#include "base/check.h"
#include "base/tsv.h"

extern const std::string_view op_catalog_tsv;

namespace fathom {
namespace {

constexpr std::string_view kOther = "other";

// PyTorch's own kernels tell by their names what they do.
std::string_view category_of_kernel(std::string_view kernel) {
  if (!kernel.starts_with("void at::native")) return kOther;
  for (std::string_view word : {"elementwise", "reduce", "multi_tensor_apply"}) {
    if (kernel.find(word) != std::string_view::npos) return word;
  }
  return kOther;
}

}  // namespace

OpCatalog::OpCatalog(std::string_view tsv) {
  for (const auto& row : read_tsv(tsv, 5)) {
    CHECK(ops_.emplace(row[0], OpFacts{row[1], row[2], row[3] == "yes", row[4]}).second);
  }
}

const OpCatalog& OpCatalog::built_in() {
  static const OpCatalog catalog(op_catalog_tsv);
  return catalog;
}

const OpFacts* OpCatalog::find(std::string_view op) const {
  const auto found = ops_.find(op);
  return found == ops_.end() ? nullptr : &found->second;
}

std::string_view OpCatalog::category(std::string_view op, std::string_view first_kernel) const {
  if (const OpFacts* facts = find(op)) return facts->category;
  if (op.starts_with("triton")) return "triton";
  if (op.starts_with("record_param_comms")) return "record_param_comms";
  return category_of_kernel(first_kernel);
}

bool OpCatalog::is_modelled(std::string_view op) const {
  const OpFacts* facts = find(op);
  return facts != nullptr ? facts->has_cost_model : op.starts_with("triton");
}

}  // namespace fathom
