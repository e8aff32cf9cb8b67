#pragma once

#include "cost/cost_call.h"

namespace fathom {

// A function that rows of data/op_families/op_costs.tsv may name.
struct CostFunctionFacts {
  std::string_view name;
  CostFunction function;
  std::string_view keys;  // the settings it reads, with spaces between; about.md says what they are
  CostNeeds needs;

  bool reads(std::string_view key) const;
};

// The only list of them. Null for a name that is not among them.
const CostFunctionFacts* find_cost_function(std::string_view name);
std::span<const CostFunctionFacts> cost_functions();

// The row that covers an op, or null. A synthetic op "parent->kernel (Synthetic Op)" has the row
// "parent->part" whose part stands in the kernel's name.
const CostRow* find_cost_row(std::string_view op);

}  // namespace fathom

namespace fathom::costs {

std::optional<Cost> gemm(const CostCall& call);
std::optional<Cost> grouped_gemm(const CostCall& call);

std::optional<Cost> convolution(const CostCall& call);
std::optional<Cost> convolution_backward(const CostCall& call);

std::optional<Cost> attention(const CostCall& call);
std::optional<Cost> attention_backward(const CostCall& call);
std::optional<Cost> inference_attention(const CostCall& call);
std::optional<Cost> sparse_attention(const CostCall& call);
std::optional<Cost> linear_attention(const CostCall& call);
std::optional<Cost> state_space(const CostCall& call);

std::optional<Cost> moe(const CostCall& call);
std::optional<Cost> moe_layer(const CostCall& call);

std::optional<Cost> elementwise(const CostCall& call);
std::optional<Cost> streams(const CostCall& call);
std::optional<Cost> reduce(const CostCall& call);
std::optional<Cost> normalization(const CostCall& call);
std::optional<Cost> normalization_backward(const CostCall& call);
std::optional<Cost> pooling(const CostCall& call);

std::optional<Cost> gather(const CostCall& call);
std::optional<Cost> index(const CostCall& call);
std::optional<Cost> scatter(const CostCall& call);
std::optional<Cost> concatenate(const CostCall& call);

std::optional<Cost> multi_tensor(const CostCall& call);
std::optional<Cost> triton(const CostCall& call);
std::optional<Cost> transfer(const CostCall& call);

inline double size_at(const std::vector<int64_t>& dims, size_t place) {
  return static_cast<double>(dims[place]);
}

}  // namespace fathom::costs
