#include "story/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/glob.h"
#include "base/text_parts.h"
#include "base/tsv.h"
#include "scan/facts/expression.h"

extern const std::string_view parameter_names_tsv;

namespace fathom {
namespace {

// Values that name one another in circles end here.
constexpr int kMaxDepth = 12;
constexpr size_t kMaxSteps = 2000;

struct ParameterNames {
  std::string_view parameter;  // or a formula of others
  std::vector<std::string_view> names;
};

const std::vector<ParameterNames>& parameter_names() {
  static const std::vector<ParameterNames> rows = [] {
    std::vector<ParameterNames> out;
    for (const auto& row : read_tsv(parameter_names_tsv, 2))
      out.push_back({row[0], split(row[1], ';')});
    return out;
  }();
  return rows;
}

bool fits(const ParameterNames& row, std::string_view name) {
  return std::any_of(row.names.begin(), row.names.end(),
                     [&](std::string_view pattern) { return glob_matches(pattern, name); });
}

std::optional<double> bytes_of_type(std::string_view type) {
  constexpr std::pair<std::string_view, double> sizes[] = {
      {"fp32", 4}, {"float32", 4}, {"fp16", 2},  {"float16", 2}, {"bf16", 2}, {"bfloat16", 2},
      {"fp8", 1},  {"int8", 1},    {"int32", 4}, {"int64", 8},   {"fp64", 8}, {"fp4", 0.5}};
  for (const auto& [name, bytes] : sizes) {
    if (name == type) return bytes;
  }
  return std::nullopt;
}

// A name of the table: a size of the workload.
bool is_size(std::string_view name) {
  const auto& rows = parameter_names();
  return holds(name, "Dim.") ||
         std::any_of(rows.begin(), rows.end(), [&](const ParameterNames& row) {
           return row.parameter == name || fits(row, name);
         });
}

std::optional<double> flag_value(std::string_view text) {
  if (text == "true" || text == "True") return 1;
  if (text == "false" || text == "False") return 0;
  return std::nullopt;
}

std::string without_spaces(std::string_view text) {
  std::string out(text);
  std::erase(out, ' ');
  return out;
}

// "blocks(count)" with the code's "blocks(rows)" = "(rows + 3) / 4": the argument stands for rows.
struct CallText {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

std::optional<CallText> as_call(std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  if (holds(inside, '(')) return std::nullopt;
  CallText call{text.substr(0, open), split(inside, ',')};
  for (std::string_view& argument : call.arguments) {
    while (argument.starts_with(' ')) argument.remove_prefix(1);
  }
  return call;
}

// "blocks(rows)" is a function; "x.size(0)" is a value that is known, and tells nothing of
// x.size(1).
bool has_parameters(const CallText& call) {
  return std::ranges::all_of(call.arguments, [](std::string_view argument) {
    return !argument.empty() &&
           (argument.front() == '_' || std::isalpha(static_cast<unsigned char>(argument.front())));
  });
}

// Whether some launch's grid, block or shared memory is made of the name, or what a kernel moves.
bool kernels_use(const CodeFacts& facts, const std::string& name) {
  const auto in = [&](const std::string& expression) {
    const std::vector<std::string> names = names_in(expression);
    return contains(names, name);
  };
  // A member's last name alone stands for it too: "count" for "job.count".
  const auto says = [&](const std::string& formula) {
    return in(formula) || holds(formula, "::" + name) || holds(formula, "." + name) ||
           (holds(name, "Dim.") && holds(formula, name));
  };
  for (const KernelFacts& kernel : facts.kernels) {
    if (in(kernel.parameters) || in(kernel.template_parameters)) return true;
    for (const ArrayTraffic& traffic : kernel.traffic) {
      if (says(traffic.elements) || says(traffic.times)) return true;
    }
    for (const KernelLauncher& launcher : kernel.launchers) {
      if (in(launcher.grid) || in(launcher.block) || in(launcher.shared_memory)) return true;
      for (const auto* list : {&launcher.values, &launcher.arguments, &launcher.argument_values}) {
        for (const NamedValue& value : *list) {
          if (value.name == name || in(value.text)) return true;
        }
      }
    }
  }
  return false;
}

// "META['BLOCK_M']" and "meta["BLOCK_M"]" → BLOCK_M: what a Triton launch hands to its grid.
std::string_view subscript_name(std::string_view text) {
  const size_t open = text.find('[');
  if (open == std::string_view::npos || open + 4 > text.size() || !text.ends_with(']')) return {};
  const char quote = text[open + 1];
  if ((quote != '"' && quote != '\'') || text[text.size() - 2] != quote) return {};
  const std::string_view name = text.substr(open + 2, text.size() - open - 4);
  return name.find_first_of("\"'[]") == std::string_view::npos ? name : std::string_view();
}

class CodeValues {
 public:
  CodeValues(const Parameters& parameters, const std::vector<NamedValue>& values)
      : parameters_(parameters), values_(values) {}

  std::optional<double> of(std::string_view expression, int depth) const {
    return evaluate(expression, [&](std::string_view name) { return named(name, depth + 1); });
  }

  std::vector<std::string> missing(std::string_view expression) {
    std::vector<std::string> out;
    missing_ = &out;
    of(expression, 0);
    missing_ = nullptr;
    return out;
  }

 private:
  std::optional<double> named(std::string_view name, int depth) const {
    if (depth > kMaxDepth || ++steps_ > kMaxSteps) return std::nullopt;
    // What the user says of the very name goes before what the code says; other names after it.
    for (const auto& [given, text] : parameters_.given()) {
      if (given == name) return parameters_.find(name);
    }
    for (const NamedValue& value : values_) {
      if (value.name != name) continue;
      if (auto known = of(value.text, depth)) return known;
    }
    if (const std::string_view member = subscript_name(name); !member.empty())
      return named(member, depth + 1);
    if (auto known = called(name, depth)) return known;
    auto known = parameters_.find(name);
    if (known || missing_ == nullptr) return known;
    if (std::find(missing_->begin(), missing_->end(), name) == missing_->end())
      missing_->emplace_back(name);
    return 1;  // so that the names after it are asked for too
  }

  std::optional<double> called(std::string_view text, int depth) const {
    const auto call = as_call(text);
    if (!call) return std::nullopt;
    for (const NamedValue& value : values_) {
      const auto definition = as_call(value.name);
      if (!definition || definition->name != call->name ||
          definition->arguments.size() != call->arguments.size() || !has_parameters(*definition)) {
        continue;
      }
      return evaluate(value.text, [&](std::string_view name) -> std::optional<double> {
        for (size_t i = 0; i < call->arguments.size(); ++i) {
          if (definition->arguments[i] == name) return of(call->arguments[i], depth + 1);
        }
        return named(name, depth + 1);
      });
    }
    return std::nullopt;
  }

  const Parameters& parameters_;
  const std::vector<NamedValue>& values_;
  std::vector<std::string>* missing_ = nullptr;  // where these are asked for
  mutable size_t steps_ = 0;  // names looked up: each may stand many times in the next one's value
};

}  // namespace

Result<Parameters> Parameters::parse(const std::vector<std::string>& given) {
  Parameters out;
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return Error{fmt::format("--param {}: expected NAME=VALUE, as batch=64 or dtype=fp16", text)};
    }
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    out.given_.emplace_back(name, value);
    const auto number = number_in<double>(value);
    // A flag may be off; a size is above 0.
    constexpr double kMost = 0x1p53;  // whole numbers are exact up to here
    if (number && !(*number >= 0 && *number <= kMost && (*number > 0 || !is_size(name)))) {
      return Error{fmt::format("--param {}: expected a number above 0, at most 2^53", text)};
    }
    if (number) {
      out.values_[name] = *number;
    } else if (const auto flag = flag_value(value)) {
      out.values_[name] = *flag;
    } else if (const auto bytes = bytes_of_type(value); bytes && holds(name, "type")) {
      out.values_[name.starts_with("index") ? "index_bytes" : "dtype_bytes"] = *bytes;
    } else {
      return Error{fmt::format(
          "--param {}: {} is neither a number nor a type (fp32, fp16, bf16, fp8, int64 …)", text,
          value)};
    }
  }
  return out;
}

std::vector<std::string> Parameters::unused_in(const CodeFacts& facts) const {
  std::vector<std::string> out;
  for (const auto& [name, value] : given_) {
    const auto is_row = [&](const ParameterNames& row) {
      return row.parameter == name || fits(row, name);
    };
    const auto& rows = parameter_names();
    const bool is_type = holds(name, "type");
    if (is_type || std::any_of(rows.begin(), rows.end(), is_row) || kernels_use(facts, name))
      continue;
    out.push_back(name);
  }
  return out;
}

std::vector<std::string> Parameters::known_in(const CodeFacts& facts) {
  constexpr size_t kMostKnown = 20'000;
  std::vector<std::string> known = {"dtype"};
  for (const ParameterNames& row : parameter_names()) {
    for (const std::string_view name : row.names) {
      if (name.find_first_of("*.(") == std::string_view::npos) known.emplace_back(name);
    }
  }
  const auto add = [&](const std::string& expression) {
    for (std::string& name : names_in(expression)) {
      if (known.size() < kMostKnown) known.push_back(std::move(name));
    }
  };
  for (const KernelFacts& kernel : facts.kernels) {
    add(kernel.parameters);
    for (const KernelLauncher& launcher : kernel.launchers) {
      add(launcher.grid);
      add(launcher.block);
      for (const NamedValue& value : launcher.values) known.push_back(value.name);
    }
    if (known.size() >= kMostKnown) break;
  }
  return known;
}

std::optional<double> Parameters::find(std::string_view name) const {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  const std::string plain = without_spaces(name);
  if (const auto found = values_.find(plain); found != values_.end()) return found->second;
  return by_other_name(plain);
}

std::optional<double> Parameters::by_other_name(std::string_view name) const {
  for (const ParameterNames& row : parameter_names()) {
    if (!fits(row, name)) continue;
    for (const auto& [given, value] : values_) {
      if (row.parameter == given || fits(row, given)) return value;
    }
    if (holds(row.parameter, ' ')) return evaluate_formula(row.parameter);
  }
  return std::nullopt;
}

std::optional<double> Parameters::evaluate_formula(std::string_view formula) const {
  return evaluate(formula, [this](std::string_view name) -> std::optional<double> {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    return by_other_name(name);
  });
}

std::optional<double> Parameters::evaluate_in(std::string_view expression,
                                              const std::vector<NamedValue>& values) const {
  return CodeValues(*this, values).of(expression, 0);
}

std::vector<std::string> Parameters::missing_in(std::string_view expression,
                                                const std::vector<NamedValue>& values) const {
  return CodeValues(*this, values).missing(expression);
}

Parameters Parameters::types_only() const {
  Parameters out;
  for (const auto& [name, text] : given_) {
    if (holds(name, "type")) out.given_.emplace_back(name, text);
  }
  for (const auto& [name, value] : values_) {
    if (name == "dtype_bytes" || name == "index_bytes") out.values_.emplace(name, value);
  }
  return out;
}

}  // namespace fathom
