#include "cost/cost.h"

#include "base/check.h"
#include "base/tsv.h"
#include "cost/cost_functions.h"

extern const std::string_view op_costs_tsv;

namespace fathom {
namespace {

struct NamedFunction {
  std::string_view name;
  CostFunction function;
};

// The only list of cost functions.
constexpr NamedFunction kFunctions[] = {
    {"gemm", costs::gemm},
    {"grouped_gemm", costs::grouped_gemm},
    {"convolution", costs::convolution},
    {"convolution_backward", costs::convolution_backward},
    {"attention", costs::attention},
    {"attention_backward", costs::attention_backward},
    {"elementwise", costs::elementwise},
    {"reduce", costs::reduce},
    {"normalization", costs::normalization},
    {"normalization_backward", costs::normalization_backward},
    {"pooling", costs::pooling},
    {"gather", costs::gather},
    {"scatter", costs::scatter},
    {"concatenate", costs::concatenate},
    {"multi_tensor", costs::multi_tensor},
    {"launched_elements", costs::launched_elements},
    {"triton", costs::triton},
    {"transfer", costs::transfer},
};

CostFunction find_function(std::string_view name) {
  for (const NamedFunction& f : kFunctions) {
    if (f.name == name) return f.function;
  }
  return nullptr;
}

using Rows = std::unordered_map<std::string_view, CostRow>;

const Rows& built_in_rows() {
  static const Rows rows = [] {
    Rows all;
    for (const auto& fields : read_tsv(op_costs_tsv, 4)) {
      CostRow row{fields[1], fields[3], {}};
      CHECK(find_function(row.function) != nullptr);
      CHECK(row.backward.empty() || find_function(row.backward) != nullptr);
      for (std::string_view word : split(fields[2], ' ')) {
        const size_t equals = word.find('=');
        row.settings[word.substr(0, equals)] =
            equals == std::string_view::npos ? std::string_view("yes") : word.substr(equals + 1);
      }
      CHECK(all.emplace(fields[0], std::move(row)).second);
    }
    return all;
  }();
  return rows;
}

const CostRow* find_row(std::string_view op) {
  const auto found = built_in_rows().find(op.starts_with("triton_") ? "triton_*" : op);
  return found == built_in_rows().end() ? nullptr : &found->second;
}

}  // namespace

std::string_view cost_function_of(std::string_view op) {
  const CostRow* row = find_row(op);
  return row != nullptr ? row->function : std::string_view();
}

std::optional<Cost> cost_of(const CostQuestion& question) {
  static const OpArgs kNone;
  if (const CostRow* row = find_row(question.op)) {
    const OpArgs& args = question.args != nullptr ? *question.args : kNone;
    return find_function(row->function)(CostCall(question, *row, args));
  }
  const CostRow* forward = find_row(question.forward_op);
  if (forward == nullptr || forward->backward.empty() || question.forward_args == nullptr)
    return {};
  return find_function(forward->backward)(CostCall(question, *forward, *question.forward_args));
}

}  // namespace fathom
