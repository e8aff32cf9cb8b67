#pragma once

#include <string_view>
#include <unordered_map>

namespace fathom {

// What data/op_families/op_catalog.tsv says of an operator.
struct OpFacts {
  std::string_view sheet, category;
  bool has_cost_model = false;
  std::string_view backward;  // empty: the model does not cover the gradient
};

class OpCatalog {
 public:
  // The catalogue that is compiled in.
  static const OpCatalog& built_in();

  explicit OpCatalog(std::string_view tsv);

  // Null for an op that no row names.
  const OpFacts* find(std::string_view op) const;

  // An op's category, by its name and otherwise by the first kernel it launched ("" for none).
  std::string_view category(std::string_view op, std::string_view first_kernel) const;

  // Whether unified_perf_summary takes this op as a whole.
  bool is_modelled(std::string_view op) const;

 private:
  std::unordered_map<std::string_view, OpFacts> ops_;
};

}  // namespace fathom
