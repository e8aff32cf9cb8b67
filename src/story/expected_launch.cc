#include "story/expected_launch.h"

#include <algorithm>
#include <cstdint>

#include "base/text_parts.h"
#include "scan/facts/expression.h"

namespace fathom {
namespace {

// "lambda meta: (cdiv(M, meta['BLOCK_M']),)" → what it returns. A lambda without parameters too.
std::string_view without_lambda(std::string_view text) {
  if (!text.starts_with("lambda")) return text;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return text;
  text.remove_prefix(colon + 1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

// "dim3(x, y)" and "(x, y,)" → x and y; anything else is one dimension.
std::vector<std::string> dimensions_of(std::string_view text) {
  text = without_lambda(text);
  if (text.starts_with("dim3")) text.remove_prefix(4);
  while (text.starts_with(' ')) text.remove_prefix(1);
  const bool wrapped = (text.starts_with('(') && text.ends_with(')')) ||
                       (text.starts_with('{') && text.ends_with('}'));
  if (!wrapped) return {std::string(text)};
  std::vector<std::string> out;
  std::string part;
  int depth = 0;
  for (const char c : text.substr(1, text.size() - 2)) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth < 0) return {std::string(text)};  // "(a) / (b)" is one expression
    if (c == ',' && depth == 0) {
      out.push_back(std::move(part));
      part.clear();
    } else {
      part += c;
    }
  }
  out.push_back(std::move(part));
  std::erase_if(out,
                [](const std::string& p) { return p.find_first_not_of(' ') == std::string::npos; });
  return out;
}

std::vector<ExpectedLaunch::Dimension> dimensions(const std::string& text,
                                                  const std::vector<NamedValue>& values,
                                                  const Parameters& parameters, int depth = 0) {
  constexpr double kMostBlocks = INT32_MAX;  // of a dimension
  constexpr int kMaxDepth = 12;              // names that stand for one another end here
  std::vector<ExpectedLaunch::Dimension> out;
  if (text.empty()) return out;
  for (std::string& part : dimensions_of(text)) {
    auto value = parameters.evaluate_in(part, values);
    if (value && !(*value >= 1 && *value <= kMostBlocks)) value = std::nullopt;  // no launch
    // "grid" may be a name whose value is a dim3 of several.
    const auto named = std::find_if(values.begin(), values.end(),
                                    [&](const NamedValue& v) { return v.name == part; });
    if (!value && named != values.end() && named->text != text && depth < kMaxDepth)
      return dimensions(named->text, values, parameters, depth + 1);
    out.push_back({std::move(part), value});
  }
  return out;
}

// --param gridDim.x=32 goes before what the launch says.
void use_given(std::vector<ExpectedLaunch::Dimension>& list, const std::string& prefix,
               const Parameters& parameters) {
  for (size_t i = 0; i < 3; ++i) {
    const std::string name = prefix + "xyz"[i];
    const auto given = std::find_if(parameters.given().begin(), parameters.given().end(),
                                    [&](const auto& one) { return one.first == name; });
    if (given == parameters.given().end()) continue;
    if (list.size() <= i) list.resize(i + 1, {"1", 1});
    list[i] = {name, parameters.find(name)};
  }
}

std::optional<double> product(const std::vector<ExpectedLaunch::Dimension>& dimensions) {
  if (dimensions.empty()) return std::nullopt;
  double out = 1;
  for (const auto& dimension : dimensions) {
    if (!dimension.value) return std::nullopt;
    out *= *dimension.value;
  }
  constexpr double kMost = 0x1p53;  // exact up to here
  return out <= kMost ? std::optional(out) : std::nullopt;
}

std::string_view last_member(std::string_view name) {
  const size_t joint = name.find_last_of(":.>");
  return joint == std::string_view::npos ? name : name.substr(joint + 1);
}

}  // namespace

ExpectedLaunch expect_launch(const KernelLauncher& launcher, const Parameters& parameters) {
  ExpectedLaunch expected;
  expected.launcher = &launcher;
  std::vector<NamedValue> values = launcher.values;
  values.insert(values.end(), launcher.argument_values.begin(), launcher.argument_values.end());
  expected.grid = dimensions(launcher.grid, values, parameters);
  expected.block = dimensions(launcher.block, values, parameters);
  use_given(expected.grid, "gridDim.", parameters);
  use_given(expected.block, "blockDim.", parameters);
  expected.blocks = product(expected.grid);
  expected.threads = product(expected.block);
  expected.shared_bytes = parameters.evaluate_in(launcher.shared_memory, launcher.values);
  return expected;
}

std::optional<double> KernelValues::element_bytes() const {
  return element_bytes_ ? element_bytes_ : parameters_.evaluate_formula("dtype_bytes");
}

// gridDim.y of a launch that names one dimension is 1.
std::optional<double> KernelValues::dimension(std::string_view name) const {
  const bool grid = name.starts_with("gridDim."), block = name.starts_with("blockDim.");
  if ((!grid && !block) || !launch_) return std::nullopt;
  const auto& list = grid ? launch_->grid : launch_->block;
  if (list.empty()) return std::nullopt;
  const size_t index = name.back() == 'x' ? 0 : name.back() == 'y' ? 1 : 2;
  return index < list.size() ? list[index].value : 1;
}

std::optional<double> KernelValues::argument(std::string_view name) const {
  if (!launch_ || launch_->launcher == nullptr) return std::nullopt;
  const KernelLauncher& launcher = *launch_->launcher;
  for (const NamedValue& given : launcher.arguments) {
    if (given.name != name) continue;
    if (auto known = parameters_.evaluate_in(given.text, launcher.argument_values)) return known;
  }
  return parameters_.evaluate_in(name, launcher.values);
}

std::optional<double> KernelValues::named(std::string_view name) const {
  if (own_ != nullptr) {
    if (const auto measured = own_->find(name); measured != own_->end()) return measured->second;
  }
  for (const auto& [given, text] : parameters_.given()) {
    if (given == name) return parameters_.find(name);
  }
  if (name.starts_with("sizeof(")) return element_bytes();
  if (name == "dtype_bytes" && element_bytes_) return element_bytes_;
  if (auto known = dimension(name)) return known;
  if (name.starts_with("gridDim.") || name.starts_with("blockDim.")) return std::nullopt;
  if (auto known = argument(name)) return known;
  if (auto known = parameters_.find(name)) return known;
  const std::string_view last = last_member(name);
  return last == name ? std::nullopt : parameters_.find(last);
}

std::optional<double> KernelValues::evaluate(std::string_view formula) const {
  if (formula.empty()) return std::nullopt;
  return fathom::evaluate(formula, [this](std::string_view name) { return named(name); });
}

std::optional<bool> KernelValues::flag(std::string_view condition) const {
  const auto value = fathom::evaluate(condition, [this](std::string_view name) {
    if (const auto known = named(name)) return known;
    if (name == "true" || name == "True") return std::optional<double>(1);
    if (name == "false" || name == "False") return std::optional<double>(0);
    return given_as_null(name) ? std::optional<double>(0) : std::nullopt;
  });
  return value ? std::optional(*value != 0) : std::nullopt;
}

bool KernelValues::given_as_null(std::string_view name) const {
  if (!launch_ || launch_->launcher == nullptr) return false;
  const auto& arguments = launch_->launcher->arguments;
  return std::any_of(arguments.begin(), arguments.end(), [&](const NamedValue& given) {
    return given.name == name &&
           (given.text == "nullptr" || given.text == "NULL" || given.text == "None");
  });
}

std::vector<std::string> KernelValues::missing(std::string_view formula) const {
  std::vector<std::string> out;
  const auto add = [&](std::string name) {
    if (!contains(out, name)) out.push_back(std::move(name));
  };
  const auto ask = [&](std::string_view name) -> std::optional<double> {
    if (const auto known = named(name)) return known;
    if (name.starts_with("sizeof(") || name == "dtype_bytes") {
      add("dtype");
    } else {
      add(std::string(name));
    }
    return 1;  // so that the names after it are asked for too
  };
  fathom::evaluate(formula, ask);
  return out;
}

}  // namespace fathom
