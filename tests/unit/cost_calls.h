#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/cost.h"

// Ops as a trace shows them, written down for tests of their costs.
namespace fathom::test {

using Dims = std::vector<int64_t>;

inline constexpr const char *kBf16 = "c10::BFloat16", *kFp32 = "float",
                            *kFp8 = "c10::Float8_e4m3fn", *kFp4 = "c10::Float4_e2m1fn_x2",
                            *kInt64 = "long int", *kInt32 = "int", *kByte = "unsigned char",
                            *kBool = "bool";

inline ArgValue tensor(Dims dims, std::string type = kBf16, Dims strides = {}) {
  ArgValue value;
  value.shape = {std::move(dims), std::move(strides)};
  value.type = std::move(type);
  return value;
}

inline ArgValue element(std::string type) { return tensor({}, std::move(type)); }

inline ArgValue number(std::string printed) {
  ArgValue value;
  value.type = "Scalar";
  value.concrete = std::move(printed);
  return value;
}

inline ArgValue none() { return {}; }

inline ArgValue tensor_list(std::vector<Dims> shapes) {
  ArgValue value;
  value.type = "TensorList";
  for (Dims& dims : shapes) value.list.push_back({std::move(dims), {}});
  return value;
}

// What surrounds a call. Names must outlive it.
struct Around {
  std::vector<LaunchedKernel> kernels;
  std::vector<std::string_view> annotations;
  std::vector<CalledOp> below;
};

inline std::optional<Cost> cost(std::string_view op, std::vector<ArgValue> inputs,
                                const Around& around = {}) {
  const OpArgs args{std::move(inputs)};
  CostQuestion question;
  question.op = op;
  question.args = &args;
  question.kernels = around.kernels;
  question.annotations = around.annotations;
  question.below = around.below;
  return cost_of(question);
}

// Of a gradient that the trace links to its forward op.
inline std::optional<Cost> gradient_cost(std::string_view forward_op,
                                         std::vector<ArgValue> inputs) {
  const OpArgs args{std::move(inputs)};
  CostQuestion question;
  question.op = "autograd::engine::evaluate_function: Backward0";
  question.forward_op = forward_op;
  question.forward_args = &args;
  return cost_of(question);
}

inline std::string param(const Cost& cost, std::string_view name) {
  for (const CostParam& each : cost.params) {
    if (each.name == name) return each.json;
  }
  return "absent";
}

}  // namespace fathom::test

// Both numbers, with the arithmetic at hand where it is used.
#define EXPECT_COST(found, flops_, bytes_)            \
  do {                                                \
    const std::optional<fathom::Cost> c_ = found;     \
    ASSERT_TRUE(c_) << "no cost";                     \
    EXPECT_DOUBLE_EQ(c_->flops, (flops_)) << "flops"; \
    EXPECT_DOUBLE_EQ(c_->bytes, (bytes_)) << "bytes"; \
  } while (false)
