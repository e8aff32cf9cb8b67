#include "story/measured_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "scan/cpp/expressions.h"
#include "scan/cpp/references.h"
#include "scan/facts/kernel_identity.h"
#include "scan/facts/type_bytes.h"
#include "story/expected_launch.h"

namespace fathom {
namespace {

// Sizes above this are no sizes of arrays.
constexpr int64_t kLargestSize = int64_t{1} << 46;

// "(int)4", "4u", "true", "(bool)1".
std::optional<double> number_written(std::string_view text) {
  if (text.starts_with('(')) {
    const size_t close = text.find(')');
    if (close != std::string_view::npos) text.remove_prefix(close + 1);
  }
  return Parameters().evaluate_in(text, {});
}

// What a profiler and the code may both call a type: const and references left out.
std::string plain_type(std::string_view type) {
  std::string out(type);
  for (const std::string_view word : {"const ", " const", "&"}) {
    for (size_t at; (at = out.find(word)) != std::string::npos;) out.erase(at, word.size());
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

// The values of one unknown name for which an expression gives a whole number.
struct SizeRange {
  int64_t least = 0, most = 0;
};
enum class Answer : uint8_t { kSolved, kUnknown, kContradiction };

class Solver {
 public:
  Solver(std::string_view expression, const std::string& name, std::vector<NamedValue> values,
         const Parameters& parameters)
      : expression_(expression), parameters_(parameters), values_(std::move(values)) {
    values_.insert(values_.begin(), NamedValue{name, "", {}});
  }

  Answer run(int64_t target, SizeRange& range) {
    const auto goal = static_cast<double>(target);
    // Only what grows with the name can be turned round.
    std::optional<double> before;
    for (int64_t v = 1; v <= kLargestSize; v *= 2) {
      const std::optional<double> now = at(v);
      if (!now || !std::isfinite(*now)) return Answer::kUnknown;
      if (before && *now < *before) return Answer::kUnknown;
      before = now;
    }
    if (*before < goal) return Answer::kContradiction;
    range.least = first_from(goal);
    if (at(range.least) != goal) return Answer::kContradiction;
    if (*before <= goal) return Answer::kUnknown;  // a grid of limited size
    range.most = first_from(goal + 1) - 1;
    return Answer::kSolved;
  }

 private:
  std::optional<double> at(int64_t value) {
    values_.front().text = std::to_string(value);
    return parameters_.evaluate_in(expression_, values_);
  }

  // The first value whose result is at least this much.
  int64_t first_from(double goal) {
    int64_t low = 0, high = kLargestSize;  // the result at high is enough
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      const std::optional<double> result = at(middle);
      (result && *result >= goal ? high : low) = middle;
    }
    return high;
  }

  std::string_view expression_;
  const Parameters& parameters_;
  std::vector<NamedValue> values_;
};

struct MeasuredDimension {
  std::string text;  // of the code
  int64_t value = 0;
  std::string from;
  bool done = false;
};

std::vector<MeasuredDimension> measured_dimensions(
    const std::vector<ExpectedLaunch::Dimension>& code, const Dim3& measured,
    std::string_view what) {
  const int64_t values[] = {measured.x, measured.y, measured.z};
  std::vector<MeasuredDimension> out;
  // A name of unknown value may be a dim3 that somebody passes.
  const bool may_be_dim3 = code.size() == 1 && !code[0].value &&
                           code[0].text.find_first_of("+-*/%(<>") == std::string::npos;
  if (may_be_dim3 && (measured.y != 1 || measured.z != 1)) return out;
  for (size_t i = 0; i < std::min<size_t>(code.size(), 3); ++i)
    out.push_back({code[i].text, values[i], fmt::format("{} {}", what, "xyz"[i])});
  for (size_t i = code.size(); i < 3 && !code.empty(); ++i)
    out.push_back({"1", values[i], fmt::format("{} {}", what, "xyz"[i])});
  return out;
}

std::vector<NamedValue> all_values(const KernelLauncher& launcher) {
  std::vector<NamedValue> values = launcher.values;
  values.insert(values.end(), launcher.argument_values.begin(), launcher.argument_values.end());
  return values;
}

void set_value(KernelLauncher& launcher, const std::string& name, double value) {
  const NamedValue known{name, fmt::format("{:.0f}", value), {}};
  launcher.values.insert(launcher.values.begin(), known);
  launcher.argument_values.insert(launcher.argument_values.begin(), known);
}

bool is_product(std::string_view text) {
  bool has_star = false;
  for (const char c : text) {
    has_star = has_star || c == '*';
    const bool is_plain =
        c == '*' || c == ' ' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (!is_plain) return false;
  }
  return has_star;
}

// The expression with each place of a product replaced by a name; empty: it has none that may be.
std::string with_name_for(std::string_view product, std::string_view expression,
                          std::string_view name) {
  std::string out;
  bool any = false;
  for (size_t at = 0; at < expression.size();) {
    const size_t found = expression.find(product, at);
    if (found == std::string_view::npos) {
      out += expression.substr(at);
      break;
    }
    out += expression.substr(at, found - at);
    const size_t before = out.find_last_not_of(' ');
    const char left = before == std::string::npos ? '(' : out[before];
    const size_t end = found + product.size();
    const char right = end < expression.size() ? expression[end] : ')';
    const auto is_word = [](char c) {
      return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    };
    const bool fits = left != '/' && left != '%' && !(is_word(left) && before + 1 == out.size()) &&
                      !is_word(right) && right != '.' && right != '[' && right != '(' &&
                      right != ':';
    if (!fits) return {};
    out += name;
    any = true;
    at = end;
  }
  return any ? out : std::string();
}

// "(rows * columns + 255) / 256" blocks of a kernel whose n is rows * columns: they tell n, though
// neither factor.
void solve_products(std::vector<MeasuredDimension>& dimensions, const Parameters& parameters,
                    LaunchValues& out) {
  for (MeasuredDimension& dimension : dimensions) {
    if (dimension.done) continue;
    const std::vector<NamedValue> values = all_values(out.least);
    // What a name stands for, one level deep.
    std::vector<std::string> texts = {dimension.text};
    for (const NamedValue& value : values) {
      if (value.name == dimension.text) texts.push_back(value.text);
    }
    const std::vector<NamedValue> arguments = out.least.arguments;
    for (const NamedValue& argument : arguments) {
      if (dimension.done || !is_product(argument.text)) continue;
      for (const std::string& text : texts) {
        const std::string turned = with_name_for(argument.text, text, argument.name);
        if (turned.empty() || dimension.done) continue;
        const std::vector<std::string> missing = parameters.missing_in(turned, {});
        SizeRange range;
        if (missing.size() != 1 || missing[0] != argument.name ||
            Solver(turned, argument.name, {}, parameters).run(dimension.value, range) !=
                Answer::kSolved)
          continue;
        dimension.done = true;
        const auto set = [&](KernelLauncher& launcher, int64_t value) {
          launcher.arguments.insert(launcher.arguments.begin(),
                                    NamedValue{argument.name, std::to_string(value), {}});
        };
        set(out.least, range.least);
        set(out.most, range.most);
        out.solved.push_back({argument.name, static_cast<double>(range.least),
                              static_cast<double>(range.most), dimension.from});
      }
    }
  }
}

// Puts the measured dimensions into the launch. False where they contradict it.
bool solve_dimensions(std::vector<MeasuredDimension>& dimensions, const Parameters& parameters,
                      LaunchValues& out) {
  for (bool found = true; found;) {
    found = false;
    for (MeasuredDimension& dimension : dimensions) {
      if (dimension.done) continue;
      const std::vector<NamedValue> least = all_values(out.least);
      const std::vector<std::string> missing = parameters.missing_in(dimension.text, least);
      if (missing.size() > 1) continue;
      dimension.done = found = true;
      if (missing.empty()) {
        const auto a = parameters.evaluate_in(dimension.text, least),
                   b = parameters.evaluate_in(dimension.text, all_values(out.most));
        if (!a || !b) continue;
        const auto value = static_cast<double>(dimension.value);
        if (value < std::min(*a, *b) || value > std::max(*a, *b)) return false;
        continue;
      }
      SizeRange low, high;
      const Answer answer =
          Solver(dimension.text, missing[0], least, parameters).run(dimension.value, low);
      if (answer == Answer::kContradiction) return false;
      if (answer == Answer::kUnknown) continue;
      if (Solver(dimension.text, missing[0], all_values(out.most), parameters)
              .run(dimension.value, high) != Answer::kSolved)
        continue;
      const auto from = static_cast<double>(std::min(low.least, high.least)),
                 to = static_cast<double>(std::max(low.most, high.most));
      set_value(out.least, missing[0], from);
      set_value(out.most, missing[0], to);
      out.solved.push_back({missing[0], from, to, dimension.from});
    }
  }
  return true;
}

// Whether the launch site fills in other template arguments than the profiler's name has.
bool arguments_differ(const KernelFacts& kernel, const KernelLauncher& launcher,
                      std::string_view profiler_name, const Parameters& parameters) {
  const std::vector<std::string> measured =
      cpp::listed_arguments(parse_profiler_name(profiler_name).template_arguments);
  if (measured.empty() || launcher.template_arguments.empty() || kernel.template_parameters.empty())
    return false;
  std::string_view rest = launcher.template_arguments;
  // "a, b | a, c": one of them.
  while (!rest.empty()) {
    const size_t bar = rest.find(" | ");
    const std::vector<std::string> given = cpp::listed_arguments(rest.substr(0, bar));
    rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 3);
    bool fits = true;
    for (size_t i = 0; i < std::min(given.size(), measured.size()) && fits; ++i) {
      const auto number = number_written(measured[i]);
      const auto code = parameters.evaluate_in(given[i], launcher.values);
      const auto bytes = bytes_of_type_name(plain_type(measured[i])),
                 code_bytes = bytes_of_type_name(plain_type(given[i]));
      if (number && code) fits = *number == *code;
      if (bytes && code_bytes) fits = *bytes == *code_bytes;
    }
    if (fits) return false;
  }
  return true;
}

std::string dim_text(const Dim3& d) { return fmt::format("dim3({}, {}, {})", d.x, d.y, d.z); }

std::optional<LaunchValues> fit_site(const KernelFacts& kernel, const KernelLauncher& launcher,
                                     const MeasuredLaunch& measured, const Parameters& parameters) {
  if (arguments_differ(kernel, launcher, measured.name, parameters)) return std::nullopt;
  LaunchValues out{launcher, launcher, template_values(kernel, measured.name), {}};
  const ExpectedLaunch expected = expect_launch(launcher, parameters);
  std::vector<MeasuredDimension> dimensions =
      measured_dimensions(expected.grid, *measured.grid, "grid");
  // The block of a Triton kernel is what the compiler makes of num_warps.
  if (!is_python_kernel(kernel.kind)) {
    for (MeasuredDimension& one : measured_dimensions(expected.block, *measured.block, "block"))
      dimensions.push_back(std::move(one));
  }
  if (!solve_dimensions(dimensions, parameters, out)) return std::nullopt;
  solve_products(dimensions, parameters, out);
  for (KernelLauncher* one : {&out.least, &out.most}) {
    one->grid = dim_text(*measured.grid);
    one->block = dim_text(*measured.block);
  }
  for (const auto& [name, value] : out.own)
    out.solved.push_back({name, value, value, "template argument"});
  return out;
}

// With what the op's arguments tell; none where they tell nothing, or contradict the launch.
std::optional<LaunchValues> fit_with_op(const KernelFacts& kernel, const KernelLauncher& launcher,
                                        const MeasuredLaunch& measured,
                                        const Parameters& parameters) {
  if (!measured.op_values) return std::nullopt;
  const std::vector<NamedValue> known = measured.op_values(launcher);
  if (known.empty()) return std::nullopt;
  KernelLauncher with = launcher;
  for (auto* list : {&with.values, &with.argument_values})
    list->insert(list->begin(), known.begin(), known.end());
  std::optional<LaunchValues> fits = fit_site(kernel, with, measured, parameters);
  if (!fits) return std::nullopt;
  // Reports show what the kernel is given.
  for (const NamedValue& argument : launcher.arguments) {
    if (parameters.evaluate_in(argument.text, launcher.argument_values)) continue;
    const auto number = parameters.evaluate_in(argument.text, with.argument_values);
    if (number) fits->solved.push_back({argument.name, *number, *number, "op"});
  }
  return fits;
}

}  // namespace

std::map<std::string, double, std::less<>> template_values(const KernelFacts& kernel,
                                                           std::string_view profiler_name) {
  std::map<std::string, double, std::less<>> out;
  if (kernel.template_parameters.empty()) return out;
  const std::vector<std::string> names = cpp::template_parameter_names(kernel.template_parameters),
                                 given = cpp::listed_arguments(
                                     parse_profiler_name(profiler_name).template_arguments);
  for (size_t i = 0; i < std::min(names.size(), given.size()); ++i) {
    if (names[i].empty()) continue;
    if (const auto bytes = bytes_of_type_name(plain_type(given[i]))) {
      out.emplace("sizeof(" + names[i] + ")", *bytes);
    } else if (const auto number = number_written(given[i])) {
      out.emplace(names[i], *number);
    }
  }
  return out;
}

std::vector<LaunchValues> fit_launch(const KernelFacts& kernel, const MeasuredLaunch& measured,
                                     const Parameters& parameters) {
  constexpr size_t kMostSites = 24;
  std::vector<LaunchValues> out;
  if (!measured.grid || !measured.block) return out;
  const Parameters types = parameters.types_only();
  for (size_t i = 0; i < std::min(kernel.launchers.size(), kMostSites); ++i) {
    const KernelLauncher& launcher = kernel.launchers[i];
    if (launcher.certainty == Certainty::kUnsure) continue;
    std::optional<LaunchValues> fits = fit_with_op(kernel, launcher, measured, parameters);
    if (!fits) fits = fit_site(kernel, launcher, measured, parameters);
    if (!fits && !parameters.empty()) {
      fits = fit_site(kernel, launcher, measured, types);
      if (fits) fits->uses_parameters = false;
    }
    if (fits) out.push_back(std::move(*fits));
  }
  // A site that agrees with what the user says goes before those that do not.
  if (std::ranges::any_of(out, &LaunchValues::uses_parameters))
    std::erase_if(out, [](const LaunchValues& one) { return !one.uses_parameters; });
  return out;
}

}  // namespace fathom
