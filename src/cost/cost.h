#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/op_args.h"

namespace fathom {

// One number or text that a cost was computed from, for the reader to check.
struct CostParam {
  std::string_view name;
  std::string json;
};

// What an op must do at least: arithmetic, and bytes to and from memory when each operand is read
// once and each result written once.
struct Cost {
  double flops = 0, bytes = 0;
  std::string
      spec;  // which peak the arithmetic runs against: matrix_bf16, vector_fp32; empty: none
  std::vector<CostParam> params;
  std::string_view assumption;  // what was assumed where the trace does not say; mostly empty
};

// A whole number that a cost was computed from; none: it has no such parameter, or that is no
// number.
std::optional<int64_t> integer_param(const Cost& cost, std::string_view name);

struct LaunchedKernel {
  std::string_view name;
  std::optional<Dim3> grid, block;
};

// An op that the op in question called.
struct CalledOp {
  std::string_view name;
  OpArgs args;
};

// An op as a trace shows it.
struct CostQuestion {
  std::string_view op;
  const OpArgs* args = nullptr;  // null where the trace has no shapes
  // The op whose gradient this one is, where it is known; its arguments are what a gradient
  // node, which is called with little more than the output's gradient, is worked out from.
  std::string_view forward_op;
  const OpArgs* forward_args = nullptr;
  std::span<const LaunchedKernel> kernels;
  // What cost_needs asks for; else they may be left out.
  std::span<const std::string_view> annotations;  // around the op, the innermost first
  std::span<const CalledOp> below;                // in the order of the calls
};

// The name of the function that an op's row names; "" for an op without a row.
std::string_view cost_function_of(std::string_view op);

// What a cost is worked out from beside the op's own arguments and kernels.
struct CostNeeds {
  bool annotations = false, below = false;
};
CostNeeds cost_needs(std::string_view op);

// Unknown where no row of data/op_families/op_costs.tsv covers the op, or the trace does not say
// enough of this call. What is known is finite and not negative.
std::optional<Cost> cost_of(const CostQuestion& question);

}  // namespace fathom
