#include "cost/cost_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json_writer.h"
#include "base/tsv.h"

namespace fathom {
namespace {

std::optional<size_t> read_place(std::string_view text) {
  size_t place = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return place;
}

// A tensor without dimensions has an element's type and no value in the trace; a number has its
// value, and mostly the type "Scalar".
bool is_tensor_or_element(const ArgValue& value) {
  return value.is_tensor() ||
         (value.list.empty() && value.concrete.empty() && find_element_type(value.type) != nullptr);
}

}  // namespace

std::string_view CostCall::setting(std::string_view key, std::string_view otherwise) const {
  const auto found = row_.settings.find(key);
  return found == row_.settings.end() ? otherwise : found->second;
}

double CostCall::number(std::string_view key, double otherwise) const {
  const std::string_view text = setting(key);
  double value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<size_t> CostCall::place(std::string_view key) const {
  return read_place(setting(key));
}

const ArgValue* CostCall::operand(std::string_view key) const {
  const std::optional<size_t> at = place(key);
  return at ? args_.at(*at) : nullptr;
}

const ArgValue* CostCall::tensor(std::string_view key) const {
  const ArgValue* found = operand(key);
  return found != nullptr && found->is_tensor() ? found : nullptr;
}

const ArgValue* CostCall::tensor_or_element(std::string_view key) const {
  const ArgValue* found = operand(key);
  return found != nullptr && is_tensor_or_element(*found) ? found : nullptr;
}

std::vector<const ArgValue*> CostCall::tensors(std::string_view key) const {
  std::vector<const ArgValue*> found;
  for (std::string_view word : split(setting(key), ',')) {
    const std::optional<size_t> place = read_place(word);
    const ArgValue* value = place ? args_.at(*place) : nullptr;
    if (value != nullptr && is_tensor_or_element(*value)) found.push_back(value);
  }
  return found;
}

std::string_view CostCall::concrete(std::string_view key) const {
  const ArgValue* found = operand(key);
  return found != nullptr ? std::string_view(found->concrete) : std::string_view();
}

std::optional<std::vector<int64_t>> CostCall::int_list(std::string_view key) const {
  if (std::optional<int64_t> one = integer(key)) return std::vector{*one};
  return read_int_list(concrete(key));
}

std::optional<int64_t> CostCall::integer(std::string_view key) const {
  const std::string_view text = concrete(key);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

bool CostCall::is_true(std::string_view key) const {
  const std::string_view text = concrete(key);
  return text == "True" || text == "true" || text == "1";
}

double count_of(const std::vector<int64_t>& dims) {
  double count = 1;
  for (int64_t dim : dims) count *= static_cast<double>(dim);
  return count;
}

double last_of(const std::vector<int64_t>& dims) {
  return dims.empty() ? 1 : static_cast<double>(dims.back());
}

const ElementType* result_type(const CostCall& call, const ElementType* otherwise) {
  if (call.has("out_type")) return find_element_type(call.setting("out_type"));
  if (const ElementType* named = find_scalar_type(call.concrete("out_dtype"))) return named;
  return otherwise;
}

const ElementType* product_type(const ElementType* type) {
  if (type == nullptr || type->bits != 8) return type;
  return find_element_type(type->is_float ? "bfloat16" : "int");
}

std::optional<double> distinct_bytes(const ArgValue& tensor) {
  const ElementType* type = find_element_type(tensor.type);
  if (type == nullptr) return {};
  double count = 1;
  for (size_t i = 0; i < tensor.shape.dims.size(); ++i) {
    const bool repeats = i < tensor.shape.strides.size() && tensor.shape.strides[i] == 0;
    if (!repeats || tensor.shape.dims[i] == 0) count *= static_cast<double>(tensor.shape.dims[i]);
  }
  return count * type->bytes();
}

std::string spec_name(std::string_view unit, const ElementType* type) {
  if (type == nullptr || (!type->is_float && type->short_name != "int8")) return {};
  return std::string(unit) + "_" + std::string(type->short_name);
}

double active_experts(double experts, double chosen, double tokens) {
  if (experts <= 0) return 0;
  return experts * (1 - std::pow(std::max(0.0, experts - chosen) / experts, tokens));
}

// Without spaces, as the trace's own lists are kept.
std::string json_ints(const std::vector<int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

std::string json_bool(bool value) { return value ? "true" : "false"; }
std::string json_count(double count) {
  return std::isfinite(count) ? fmt::format("{:.0f}", std::trunc(count)) : "null";
}

std::string json_decimal(std::string_view printed) {
  double value = 0;
  std::from_chars(printed.data(), printed.data() + printed.size(), value);
  if (!std::isfinite(value)) return "null";
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string json_types(std::initializer_list<const ArgValue*> operands) {
  std::vector<std::string> types;
  for (const ArgValue* operand : operands) {
    types.push_back(operand != nullptr ? json_quoted(operand->type) : "null");
  }
  return fmt::format("[{}]", fmt::join(types, ","));
}

std::string json_strides(const ArgValue* operand) {
  return operand != nullptr ? json_ints(operand->shape.strides) : "null";
}

}  // namespace fathom
