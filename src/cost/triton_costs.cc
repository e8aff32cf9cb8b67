// Kernels that torch.compile generates: their names list the ops they fuse.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/json_writer.h"
#include "base/tsv.h"
#include "cost/cost_functions.h"

extern const std::string_view fused_op_flops_tsv;

namespace fathom::costs {
namespace {

// Operations on one element, by the op's name without "aten::".
const std::unordered_map<std::string_view, double>& fused_flops() {
  static const auto flops = [] {
    std::unordered_map<std::string_view, double> all;
    for (const auto& row : read_tsv(fused_op_flops_tsv, 2)) {
      double each = 0;
      std::from_chars(row[1].data(), row[1].data() + row[1].size(), each);
      all[row[0]] = each;
    }
    return all;
  }();
  return flops;
}

// "triton_poi_fused__unsafe_view_mul_silu_2" → _unsafe_view, mul, silu. Underscores both join names
// and are part of them: of all ways to cut, the one with the fewest words that no row names.
std::vector<std::string_view> fused_ops(std::string_view kernel) {
  const size_t begin = kernel.find("fused_");
  if (begin == std::string_view::npos) return {};
  std::string_view names = kernel.substr(begin + 6);
  const size_t last = names.rfind('_');
  if (last != std::string_view::npos &&
      names.find_first_not_of("0123456789", last + 1) == std::string_view::npos) {
    names = names.substr(0, last);
  }
  constexpr size_t kLongest = 400;  // names are cut by Inductor long before
  names = names.substr(0, kLongest);
  struct Best {
    size_t unknown = SIZE_MAX, words = SIZE_MAX, from = 0;
  };
  std::vector<Best> best(names.size() + 1);  // of the text before each place
  best[0] = {0, 0, 0};
  const auto is_end = [&](size_t i) { return i == names.size() || names[i] == '_'; };
  for (size_t end = 1; end <= names.size(); ++end) {
    if (!is_end(end)) continue;
    for (size_t start = 0; start < end; ++start) {
      const bool joined =
          start == 0 || (names[start - 1] == '_' && best[start - 1].words != SIZE_MAX);
      if (!joined) continue;
      const Best& before = start == 0 ? best[0] : best[start - 1];
      if (start != 0 && start - 1 == 0) continue;
      const bool known = fused_flops().contains(names.substr(start, end - start));
      // An unknown word counts its letters and what joins it, so that an unknown name stays whole.
      const Best candidate{before.unknown + (known ? 0 : end - start + 1), before.words + 1, start};
      if (std::pair(candidate.unknown, candidate.words) <
          std::pair(best[end].unknown, best[end].words)) {
        best[end] = candidate;
      }
    }
  }
  std::vector<std::string_view> words;
  for (size_t end = names.size(); end > 0;) {
    if (best[end].words == SIZE_MAX) return {names};
    words.push_back(names.substr(best[end].from, end - best[end].from));
    end = best[end].from == 0 ? 0 : best[end].from - 1;
  }
  std::ranges::reverse(words);
  return words;
}

}  // namespace

// The kernel's own arguments: pointers with their shapes, then the numbers of elements and of
// elements reduced to one.
std::optional<Cost> triton(const CostCall& call) {
  const ArgValue* first = nullptr;
  std::vector<std::pair<double, double>> operands;  // elements, bytes of each
  std::vector<int64_t> sizes;
  for (const ArgValue& input : call.args().inputs) {
    if (input.is_tensor()) {
      const ElementType* type = find_element_type(input.type);
      if (type == nullptr) continue;
      if (first == nullptr) first = &input;
      operands.emplace_back(count_of(input.shape.dims), type->bytes());
    } else if (const auto number = read_int_list("[" + input.concrete + "]");
               number && number->size() == 1) {
      sizes.push_back((*number)[0]);
    }
  }
  if (first == nullptr || sizes.empty()) return {};
  const bool reduces = call.op().starts_with("triton_red") || call.op().starts_with("triton_per");
  const bool two = reduces && sizes.size() >= 2;
  const int64_t elements = two ? sizes[sizes.size() - 2] : sizes.back(),
                reduced = two ? sizes.back() : 1;
  const std::vector<std::string_view> ops = fused_ops(call.op());
  double flops_each = 0;
  for (std::string_view op : ops) {
    const auto found = fused_flops().find(op);
    if (found != fused_flops().end()) flops_each += found->second;
  }
  const ElementType* type = find_element_type(first->type);
  // Of a larger operand, such as a table of embeddings, it touches one element for each of its own.
  const double touched = static_cast<double>(elements) * static_cast<double>(reduced);
  double bytes = 0;
  for (const auto& [count, each] : operands) bytes += std::min(count, touched) * each;
  Cost cost;
  cost.flops = flops_each * touched;
  // A pointwise kernel writes over its first operand.
  cost.bytes =
      bytes +
      (call.op().starts_with("triton_poi") ? static_cast<double>(elements) * type->bytes() : 0);
  cost.spec = spec_name("vector", type);
  std::vector<std::string> named;
  for (std::string_view op : ops) named.push_back("aten." + std::string(op));
  cost.params = {{"fused_ops", json_quoted(fmt::format("{}", fmt::join(named, ", ")))},
                 {"xnumel", std::to_string(elements)},
                 {"rnumel", std::to_string(reduced)}};
  cost.assumption = "a pointwise kernel writes over its first operand";
  return cost;
}

}  // namespace fathom::costs
