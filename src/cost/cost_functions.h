#pragma once

#include "cost/cost_call.h"

// The functions that rows of data/op_families/op_costs.tsv name; about.md beside it says which
// settings each takes.
namespace fathom::costs {

std::optional<Cost> gemm(const CostCall& call);
std::optional<Cost> grouped_gemm(const CostCall& call);

std::optional<Cost> convolution(const CostCall& call);
std::optional<Cost> convolution_backward(const CostCall& call);

std::optional<Cost> attention(const CostCall& call);
std::optional<Cost> attention_backward(const CostCall& call);

std::optional<Cost> elementwise(const CostCall& call);
std::optional<Cost> reduce(const CostCall& call);
std::optional<Cost> normalization(const CostCall& call);
std::optional<Cost> normalization_backward(const CostCall& call);
std::optional<Cost> pooling(const CostCall& call);

std::optional<Cost> gather(const CostCall& call);
std::optional<Cost> scatter(const CostCall& call);
std::optional<Cost> concatenate(const CostCall& call);

std::optional<Cost> multi_tensor(const CostCall& call);
std::optional<Cost> launched_elements(const CostCall& call);
std::optional<Cost> triton(const CostCall& call);
std::optional<Cost> transfer(const CostCall& call);

}  // namespace fathom::costs
