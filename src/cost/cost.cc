#include "cost/cost.h"

#include <charconv>

#include "base/check.h"
#include "base/tsv.h"
#include "cost/cost_functions.h"

extern const std::string_view op_costs_tsv;

namespace fathom {
namespace {

constexpr std::string_view kArrow = "->", kSynthetic = " (Synthetic Op)";

struct SyntheticRow {
  std::string_view kernel_part;
  CostRow row;
};

struct Rows {
  std::unordered_map<std::string_view, CostRow> ops;
  std::unordered_map<std::string_view, std::vector<SyntheticRow>> synthetic;  // by the parent
};

CostRow read_row(const std::vector<std::string_view>& fields) {
  CostRow row{fields[1], fields[3], {}};
  CHECK(find_cost_function(row.function) != nullptr);
  CHECK(row.backward.empty() || find_cost_function(row.backward) != nullptr);
  for (std::string_view word : split(fields[2], ' ')) {
    const size_t equals = word.find('=');
    row.settings[word.substr(0, equals)] =
        equals == std::string_view::npos ? std::string_view("yes") : word.substr(equals + 1);
  }
  return row;
}

const Rows& built_in_rows() {
  static const Rows rows = [] {
    Rows all;
    for (const auto& fields : read_tsv(op_costs_tsv, 4)) {
      const size_t arrow = fields[0].find(kArrow);
      if (arrow == std::string_view::npos) {
        CHECK(all.ops.emplace(fields[0], read_row(fields)).second);
      } else {
        all.synthetic[fields[0].substr(0, arrow)].push_back(
            {fields[0].substr(arrow + kArrow.size()), read_row(fields)});
      }
    }
    return all;
  }();
  return rows;
}

const CostRow* find_synthetic_row(std::string_view op) {
  const size_t arrow = op.find(kArrow);
  if (arrow == std::string_view::npos) return nullptr;
  const auto found = built_in_rows().synthetic.find(op.substr(0, arrow));
  if (found == built_in_rows().synthetic.end()) return nullptr;
  const std::string_view kernel = op.substr(arrow + kArrow.size());
  for (const SyntheticRow& each : found->second) {
    if (kernel.find(each.kernel_part) != std::string_view::npos) return &each.row;
  }
  return nullptr;
}

// Sizes that no memory could hold, or work that no GPU could end, give numbers that no report
// should show.
std::optional<Cost> if_sensible(std::optional<Cost> cost) {
  constexpr double kMostBytes = 0x1p57;  // the widest address space
  constexpr double kMostFlops = 1e22;    // a month of ten petaflops
  const auto sensible = [](double number, double most) { return number >= 0 && number <= most; };
  if (cost && !(sensible(cost->flops, kMostFlops) && sensible(cost->bytes, kMostBytes))) return {};
  return cost;
}

}  // namespace

const CostRow* find_cost_row(std::string_view op) {
  if (op.ends_with(kSynthetic)) return find_synthetic_row(op);
  const auto& ops = built_in_rows().ops;
  const auto found = ops.find(op.starts_with("triton_") ? "triton_*" : op);
  return found == ops.end() ? nullptr : &found->second;
}

CostNeeds cost_needs(std::string_view op) {
  const CostRow* row = find_cost_row(op);
  return row != nullptr ? find_cost_function(row->function)->needs : CostNeeds{};
}

std::string_view cost_function_of(std::string_view op) {
  const CostRow* row = find_cost_row(op);
  return row != nullptr ? row->function : std::string_view();
}

std::optional<int64_t> integer_param(const Cost& cost, std::string_view name) {
  for (const CostParam& param : cost.params) {
    if (param.name != name) continue;
    int64_t number = 0;
    const char* const end = param.json.data() + param.json.size();
    const auto [stop, error] = std::from_chars(param.json.data(), end, number);
    if (error == std::errc{} && stop == end) return number;
  }
  return {};
}

std::optional<Cost> cost_of(const CostQuestion& question) {
  static const OpArgs kNone;
  if (const CostRow* row = find_cost_row(question.op)) {
    const OpArgs& args = question.args != nullptr ? *question.args : kNone;
    return if_sensible(find_cost_function(row->function)->function(CostCall(question, *row, args)));
  }
  const CostRow* forward = find_cost_row(question.forward_op);
  if (forward == nullptr || forward->backward.empty() || question.forward_args == nullptr)
    return {};
  return if_sensible(find_cost_function(forward->backward)
                         ->function(CostCall(question, *forward, *question.forward_args)));
}

}  // namespace fathom
