#include "scan/cpp/launch_values.h"

#include <algorithm>
#include <set>

namespace fathom::cpp {
namespace {

constexpr size_t kMaxValues = 24;

std::string_view last_name(std::string_view qualified) {
  const size_t colons = qualified.rfind("::");
  return colons == std::string_view::npos ? qualified : qualified.substr(colons + 2);
}

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

class ValueFinder {
 public:
  ValueFinder(const TokenList& source, const Definitions& definitions,
              const std::vector<LocalValue>& constants, const Launch& launch)
      : source_(source), definitions_(definitions), constants_(constants), launch_(launch) {
    if (!launch.function) return;
    const Function& around = definitions.functions[*launch.function];
    locals_ = local_values(source, around.body_first, around.body_last);
    defaults_ = template_defaults(around.template_parameters, around.line_first);
    for (const Class& type : definitions.classes) {
      if (type.name != last_name(around.scope)) continue;
      const auto of_class = template_defaults(type.template_parameters, type.line_first);
      defaults_.insert(defaults_.end(), of_class.begin(), of_class.end());
    }
  }

  std::vector<LocalValue> run() {
    for (const std::string* expression : {&launch_.grid, &launch_.block, &launch_.shared_memory}) {
      want(*expression);
    }
    for (const std::string& attribute : launch_.attributes) {
      if (const size_t condition = attribute.find(" if "); condition != std::string::npos)
        want(std::string_view(attribute).substr(condition + 4));
    }
    return find_wanted();
  }

  std::vector<LocalValue> run_arguments() {
    for (const std::string& argument : launch_.arguments) want(argument);
    return find_wanted();
  }

 private:
  std::vector<LocalValue> find_wanted() {
    while (next_ < wanted_.size() && out_.size() < kMaxValues) {
      const std::string name = wanted_[next_++];
      if (auto value = find(name)) {
        want(value->text);
        out_.push_back(std::move(*value));
      }
    }
    return std::move(out_);
  }

  void want(std::string_view expression) {
    for (std::string& name : used_names(expression)) {
      if (seen_.insert(name).second) wanted_.push_back(std::move(name));
    }
  }

  // The last value before the launch; else a parameter's default; else a constant of the file; else
  // a function of the file that returns an expression.
  std::optional<LocalValue> find(const std::string& name) const {
    std::optional<LocalValue> found;
    for (const LocalValue& local : locals_) {
      if (local.name == name && local.line <= launch_.line_last && local.text != name)
        found = local;
    }
    if (found) return found;
    for (const LocalValue& value : defaults_) {
      if (value.name == name) return value;
    }
    if (auto constant = only_constant(name)) return constant;
    return returned_by(name);
  }

  std::optional<LocalValue> only_constant(const std::string& name) const {
    std::optional<LocalValue> found;
    for (const LocalValue& constant : constants_) {
      if (constant.name != name || constant.text == name) continue;
      if (found && found->text != constant.text) return std::nullopt;
      found = constant;
    }
    return found;
  }

  std::optional<LocalValue> returned_by(const std::string& name) const {
    for (const Function& function : definitions_.functions) {
      if (function.name != name || function.body_last <= function.body_first + 3) continue;
      const size_t first = function.body_first + 1, last = function.body_last;
      if (!source_.is(first, "return") || !source_.is(last - 1, ";")) continue;
      const std::string text = source_.source(first + 1, last - 1);
      if (text.find(';') != std::string::npos) continue;
      std::string spelled = name + "(";
      for (const std::string& parameter : parameter_names_of(function.parameters)) {
        spelled += (spelled.back() == '(' ? "" : ", ") + parameter;
      }
      return LocalValue{spelled + ")", text, function.line_name};
    }
    return std::nullopt;
  }

  static std::vector<std::string> parameter_names_of(std::string_view parameters) {
    std::vector<std::string> names;
    const TokenList tokens = lex(parameters);
    for (size_t i = 0; i < tokens.size(); ++i) {
      const bool last = i + 1 == tokens.size() || tokens.is(i + 1, ",");
      if (last && tokens.is_name(i)) names.emplace_back(tokens.at(i));
    }
    return names;
  }

  const TokenList& source_;
  const Definitions& definitions_;
  const std::vector<LocalValue>& constants_;
  const Launch& launch_;
  std::vector<LocalValue> locals_, defaults_, out_;
  std::vector<std::string> wanted_;
  std::set<std::string> seen_;
  size_t next_ = 0;
};

}  // namespace

std::vector<LocalValue> values_behind(const TokenList& source, const Definitions& definitions,
                                      const std::vector<LocalValue>& constants,
                                      const Launch& launch) {
  return ValueFinder(source, definitions, constants, launch).run();
}

std::vector<LocalValue> values_behind_arguments(const TokenList& source,
                                                const Definitions& definitions,
                                                const std::vector<LocalValue>& constants,
                                                const Launch& launch) {
  return ValueFinder(source, definitions, constants, launch).run_arguments();
}

}  // namespace fathom::cpp
