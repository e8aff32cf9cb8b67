#include "scan/cpp/launch_values.h"

#include <set>

#include "scan/cpp/references.h"
#include "scan/cpp/values.h"
#include "scan/facts/code_names.h"

namespace fathom::cpp {
namespace {

constexpr size_t kMaxValues = 24;
// Definitions of one name that are looked at, and the longest expression that a function returns.
constexpr size_t kMaxNamesakes = 256, kMaxLaunchTokens = 400;

// The names that an expression uses, of functions too.
std::vector<std::string> used_names(std::string_view expression) {
  const TokenList tokens = lex(expression);
  std::vector<std::string> out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool member = i > 0 && (tokens.is(i - 1, ".") || tokens.is(i - 1, "->"));
    if (tokens.is_name(i) && !member) out.emplace_back(tokens.at(i));
  }
  return out;
}

// The names that the code counts up or changes by an operator: what they are at a launch depends on
// how often that ran.
std::set<std::string, std::less<>> counted_names(const TokenList& tokens, size_t first,
                                                 size_t last) {
  std::set<std::string, std::less<>> out;
  for (size_t i = first; i < last && i < tokens.size(); ++i) {
    if (tokens.tokens[i].kind != TokenKind::kPunctuator) continue;
    if (const size_t name = name_changed_at(tokens, i)) out.emplace(tokens.at(name));
  }
  return out;
}

}  // namespace

// The names that are still to be found for one launch, each once.
class LaunchValues::Search {
 public:
  void want(std::string_view expression) {
    for (std::string& name : used_names(expression)) {
      if (seen_.insert(name).second) wanted_.push_back(std::move(name));
    }
  }

  std::vector<LocalValue> run(const LaunchValues& values, const Around& around, uint32_t line) {
    std::vector<LocalValue> out;
    for (size_t next = 0; next < wanted_.size() && out.size() < kMaxValues; ++next) {
      auto value = values.find(std::string(wanted_[next]), around, line);
      if (!value) continue;
      want(value->text);
      out.push_back(std::move(*value));
    }
    return out;
  }

 private:
  std::vector<std::string> wanted_;
  std::set<std::string> seen_;
};

LaunchValues::LaunchValues(BodyTrees& trees, const Definitions& definitions,
                           const std::vector<LocalValue>& constants)
    : trees_(trees), source_(trees.code().source), definitions_(definitions) {
  for (const LocalValue& constant : constants) {
    std::vector<LocalValue>& known = constants_[constant.name];
    if (known.size() < kMaxNamesakes) known.push_back(constant);
  }
  for (const Function& function : definitions.functions) {
    std::vector<const Function*>& known = functions_[function.name];
    if (known.size() < kMaxNamesakes) known.push_back(&function);
  }
  for (const Class& type : definitions.classes) {
    std::vector<const Class*>& known = classes_[type.name];
    if (known.size() < kMaxNamesakes) known.push_back(&type);
  }
}

const LaunchValues::Around& LaunchValues::around(const Launch& launch) {
  const auto [known, added] = arounds_.try_emplace(launch.function);
  Around& out = known->second;
  if (!added || !launch.function) return out;
  const Function& function = definitions_.functions[*launch.function];
  for (LocalValue& local : local_values(trees_.of(*launch.function)))
    out.locals[local.name].push_back(std::move(local));
  out.counted = counted_names(source_, function.body_first, function.body_last);
  const auto add_defaults = [&](std::string_view parameters, uint32_t line) {
    for (LocalValue& value : template_defaults(parameters, line))
      out.defaults[value.name].push_back(std::move(value));
  };
  add_defaults(function.template_parameters, function.line_first);
  for (CodeParameter& parameter : code_parameters(function.parameters))
    out.parameters.insert(std::move(parameter.name));
  for (std::string& name : template_parameter_names(function.template_parameters))
    out.parameters.insert(std::move(name));
  for (const Class* type : value_or_empty(classes_, last_name(function.scope)))
    add_defaults(type->template_parameters, type->line_first);
  return out;
}

std::vector<LocalValue> LaunchValues::behind(const Launch& launch) {
  Search search;
  for (const std::string* expression : {&launch.grid, &launch.block, &launch.shared_memory})
    search.want(*expression);
  for (const LaunchAttribute& attribute : launch.attributes) {
    if (!attribute.condition.empty()) search.want(attribute.condition);
  }
  return search.run(*this, around(launch), launch.line_last);
}

std::vector<LocalValue> LaunchValues::behind_arguments(const Launch& launch) {
  Search search;
  for (const std::string& argument : launch.arguments) search.want(argument);
  return search.run(*this, around(launch), launch.line_last);
}

// The last value before the launch; else a parameter's default; else, of what is no parameter, a
// constant of the file or a function of the file that returns an expression.
std::optional<LocalValue> LaunchValues::find(const std::string& name, const Around& around,
                                             uint32_t line) const {
  if (around.counted.contains(name)) return std::nullopt;
  if (const auto locals = around.locals.find(name); locals != around.locals.end()) {
    const std::vector<LocalValue>& all = locals->second;
    for (size_t i = all.size(), tries = 0; i-- > 0 && tries < kMaxNamesakes; ++tries) {
      if (all[i].line <= line && all[i].text != name) return all[i];
    }
  }
  if (const auto value = around.defaults.find(name); value != around.defaults.end())
    return value->second.front();
  if (around.parameters.contains(name)) return std::nullopt;
  if (auto constant = only_constant(name)) return constant;
  return returned_by(name);
}

std::optional<LocalValue> LaunchValues::only_constant(const std::string& name) const {
  std::optional<LocalValue> found;
  for (const LocalValue& constant : value_or_empty(constants_, name)) {
    if (constant.text == name) continue;
    if (found && found->text != constant.text) return std::nullopt;
    found = constant;
  }
  return found;
}

std::optional<LocalValue> LaunchValues::returned_by(const std::string& name) const {
  for (const Function* function : value_or_empty(functions_, name)) {
    if (function->body_last <= function->body_first + 3) continue;
    const size_t first = function->body_first + 1, last = function->body_last;
    if (last - first > kMaxLaunchTokens) continue;
    if (!source_.is(first, "return") || !source_.is(last - 1, ";")) continue;
    const std::string text = source_.source(first + 1, last - 1);
    if (holds(text, ';')) continue;
    std::string spelled = name + "(";
    for (const CodeParameter& parameter : code_parameters(function->parameters))
      spelled += (spelled.back() == '(' ? "" : ", ") + parameter.name;
    return LocalValue{spelled + ")", text, function->line_name};
  }
  return std::nullopt;
}

}  // namespace fathom::cpp
