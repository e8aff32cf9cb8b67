#pragma once

#include <unordered_map>

#include "cost/cost.h"
#include "cost/element_type.h"

namespace fathom {

// A row of op_costs.tsv: which function, and where its operands stand among the op's arguments.
struct CostRow {
  std::string_view function, backward;
  std::unordered_map<std::string_view, std::string_view> settings;
};

// One call of an op seen through its row: operands by their names in the row.
class CostCall {
 public:
  CostCall(const CostQuestion& question, const CostRow& row, const OpArgs& args)
      : question_(question), row_(row), args_(args) {}

  std::string_view op() const { return question_.op; }
  std::span<const LaunchedKernel> kernels() const { return question_.kernels; }
  std::span<const std::string_view> annotations() const { return question_.annotations; }
  std::span<const CalledOp> below() const { return question_.below; }
  const OpArgs& args() const { return args_; }

  bool has(std::string_view key) const { return row_.settings.contains(key); }
  std::string_view setting(std::string_view key, std::string_view otherwise = "") const;
  double number(std::string_view key, double otherwise) const;

  // The place that a setting names.
  std::optional<size_t> place(std::string_view key) const;
  // Null where the row does not name the operand or the call does not have it.
  const ArgValue* operand(std::string_view key) const;
  // The same, and null too where it is no tensor with dimensions.
  const ArgValue* tensor(std::string_view key) const;
  // A tensor without dimensions, which is one element, counts too.
  const ArgValue* tensor_or_element(std::string_view key) const;
  // The tensors and elements among a list of operands: in=0,1
  std::vector<const ArgValue*> tensors(std::string_view key) const;
  // A value that is no tensor, as printed; "" where there is none.
  std::string_view concrete(std::string_view key) const;
  // A list of integers, "[1, 2]", or one alone, "1".
  std::optional<std::vector<int64_t>> int_list(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;  // one alone
  bool is_true(std::string_view key) const;

 private:
  const CostQuestion& question_;
  const CostRow& row_;
  const OpArgs& args_;
};

using CostFunction = std::optional<Cost> (*)(const CostCall& call);

// What a result is written as: the row's word, else the type that an argument names, else the
// one given.
const ElementType* result_type(const CostCall& call, const ElementType* otherwise);
// What a product of elements of a type is written as: a type of one byte is written wide.
const ElementType* product_type(const ElementType* type);

// Bytes of the elements that differ: a dimension of stride 0 repeats the same ones.
std::optional<double> distinct_bytes(const ArgValue& tensor);
// As doubles, for the formulas.
double count_of(const std::vector<int64_t>& dims);
double last_of(const std::vector<int64_t>& dims);  // 1 where there are none

// How many experts get a token, where each of the tokens chooses some evenly.
double active_experts(double experts, double chosen, double tokens);

// "vector_fp32", "matrix_bf16"; empty for integers, which no peak is given for.
std::string spec_name(std::string_view unit, const ElementType* type);

// JSON for CostParam.
std::string json_ints(const std::vector<int64_t>& numbers);
std::string json_bool(bool value);
std::string json_count(double count);
std::string json_decimal(std::string_view printed);  // "0." is 0.0, and so is no number
// The operands' types; null for an absent operand.
std::string json_types(std::initializer_list<const ArgValue*> operands);
// The operand's strides; null for an absent operand.
std::string json_strides(const ArgValue* operand);

}  // namespace fathom
