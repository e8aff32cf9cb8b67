#include "scan/cpp/launches.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "scan/cpp/launch_calls.h"
#include "scan/cpp/launch_config.h"
#include "scan/cpp/macros.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

// A macro's expansion, read like a file.
struct Expansion {
  std::string text;
  TokenList list;
  Brackets brackets;
  Code code;
  Values values;
  explicit Expansion(std::string written)
      : text(std::move(written)),
        list(lex(text)),
        brackets(list),
        code{list, brackets},
        values(code) {}
};

class LaunchFinder {
 public:
  LaunchFinder(const Code& code, const Definitions& definitions, const KnownNames& known)
      : code_(code),
        definitions_(definitions),
        known_(known),
        around_{definitions, known, code, nullptr, {}, {}, {}, nullptr, nullptr} {
    for (const LaunchCall& call : launch_calls()) words_[call.name].call = &call;
    for (const auto& [name, helper] : known.launch_helpers) words_[name].helper = &helper;
    std::vector<const Macro*> own;
    for (const Macro& macro : definitions.macros) own.push_back(&macro);
    std::set<std::string, std::less<>> reaching;
    for (const auto& [name, macro] : known.launch_macros) reaching.insert(name);
    for (const auto& [name, helper] : known.launch_helpers) reaching.insert(name);
    reaching = macros_reaching(
        own, [&](const Macro& macro) { return macro.parameters && launches_directly(macro); },
        std::move(reaching));
    macros_.add(definitions.macros, [&](const Macro& m) { return reaching.contains(m.name); });
    object_macros_.add(definitions.macros, [](const Macro& macro) {
      return !macro.parameters && !macro.body.empty() && macro.body.size() < 1000;
    });
    around_.object_macros = &object_macros_;
    for (const auto& [name, macro] : known.launch_macros) words_[name].macro = true;
    for (const Macro& macro : definitions.macros) {
      if (reaching.contains(macro.name)) words_[macro.name].macro = true;
    }
  }

  std::vector<FoundLaunch> run() {
    if (!has_launch_words()) return {};
    values_ = std::make_unique<Values>(code_);
    const std::vector<Function>& functions = definitions_.functions;
    size_t next = 0;
    around_.searches_left = &searches_left_;
    for (size_t i = 0; i < code_.source.size();) {
      while (next < functions.size() && functions[next].body_first <= i) enter(next++);
      if (around_.function != nullptr && i > around_.function->body_last) leave();
      const size_t from = around_.function == nullptr ? 0 : around_.function->body_first;
      i = step({code_, *values_, i, from, nullptr}, 0);
    }
    return std::move(found_);
  }

 private:
  struct Word {
    const LaunchCall* call = nullptr;
    const LaunchHelper* helper = nullptr;
    bool macro = false;
  };
  // A variable of a launching class, and what it was constructed with.
  struct Object {
    const LaunchHelper* helper;
    std::vector<std::string> arguments, attributes;
  };

  bool has_launch_words() const {
    for (size_t i = 0; i < code_.source.size(); ++i) {
      const Token& token = code_.source.tokens[i];
      if (token.kind == TokenKind::kIdentifier) {
        if (words_.contains(code_.source.at(i))) return true;
      } else if (token.kind == TokenKind::kPunctuator && token.end - token.begin == 3 &&
                 code_.is(i, "<<<")) {
        return true;
      }
    }
    return false;
  }

  void enter(size_t index) {
    const Function& function = definitions_.functions[index];
    // Classes come in the order in which they open.
    while (next_class_ < definitions_.classes.size() &&
           definitions_.classes[next_class_].line_first <= function.line_first) {
      const Class& opened = definitions_.classes[next_class_++];
      while (!owners_.empty() && owners_.back()->line_last < opened.line_first) owners_.pop_back();
      owners_.push_back(&opened);
    }
    while (!owners_.empty() && owners_.back()->line_last < function.line_last) owners_.pop_back();
    if (function.body_first >= function.body_last) return;
    leave();
    around_.function = &function;
    function_index_ = index;
  }

  void leave() {
    around_.function = nullptr;
    function_index_.reset();
    names_are_read_ = false;
    objects_.clear();
  }

  // The names of parameters are read for those functions that launch something.
  const Surroundings& around() {
    if (names_are_read_) return around_;
    names_are_read_ = true;
    around_.parameters.clear();
    around_.template_parameters.clear();
    around_.class_parameters.clear();
    if (around_.function == nullptr) return around_;
    around_.parameters = parameter_names(around_.function->parameters);
    around_.template_parameters = parameter_names(around_.function->template_parameters);
    for (size_t back = owners_.size(); back > 0 && around_.class_parameters.empty(); --back) {
      around_.class_parameters = parameter_names(owners_[back - 1]->template_parameters);
      if (owners_.size() - back > 8) break;
    }
    return around_;
  }

  // Looks at one token and gives back the next to look at.
  size_t step(Place place, int depth) {
    const Code& code = place.code;
    const size_t i = place.at;
    const Token& token = code.source.tokens[i];
    if (token.kind == TokenKind::kPunctuator) {
      if (token.end - token.begin == 3 && code.is(i, "<<<")) triple(place);
      return i + 1;
    }
    if (token.kind != TokenKind::kIdentifier) return i + 1;
    if (!objects_.empty()) {
      const auto object = objects_.find(code.source.at(i));
      if (object != objects_.end()) return chain(place, object->second, i + 1, i);
    }
    const auto word = words_.find(code.source.at(i));
    if (word == words_.end()) return i + 1;
    if (word->second.macro && depth < 2 && code.is(i + 1, "(")) {
      if (const size_t end = macro_use(place, depth)) return end;
    }
    if (word->second.call != nullptr && call(place, *word->second.call)) return i + 1;
    if (word->second.helper != nullptr) return helper(place, *word->second.helper);
    return i + 1;
  }

  void report(const Place& place, Launch launch, KernelChoice choice, size_t first, size_t last) {
    const uint32_t line =
        forced_lines_ ? forced_lines_->first : place.code.source.tokens[first].line;
    const uint32_t line_last =
        forced_lines_ ? forced_lines_->second
                      : place.code.source.tokens[std::min(last, place.code.source.size() - 1)].line;
    launch.kernels = choice.kernels;
    launch.device_kernel = choice.device_kernel;
    launch.through_parameter = choice.through_parameter();
    for (const std::string& one : choice.template_arguments) {
      if (!launch.template_arguments.empty()) launch.template_arguments += " | ";
      if (launch.template_arguments.size() < 2000) launch.template_arguments += one;
    }
    launch.line_first = line;
    launch.line_last = line_last;
    launch.function = function_index_;
    if (forced_lines_ && merged(launch)) return;
    found_.push_back({std::move(launch), std::move(choice)});
  }

  // A dispatching macro launches the same kernel many times with other template arguments.
  bool merged(const Launch& launch) {
    for (size_t k = first_of_macro_; k < found_.size(); ++k) {
      Launch& before = found_[k].launch;
      if (before.kernels != launch.kernels || before.grid != launch.grid ||
          before.block != launch.block || before.attributes != launch.attributes) {
        continue;
      }
      if (before.template_arguments.find(launch.template_arguments) == std::string::npos &&
          before.template_arguments.size() < 2000) {
        before.template_arguments += " | " + launch.template_arguments;
      }
      return true;
    }
    return false;
  }

  // kernel<T><<<grid, block, shared memory, stream>>>(…)
  void triple(const Place& place) {
    const Code& code = place.code;
    if (!code.brackets.closed(place.at) || place.at == 0) return;
    Range expression{place.at, place.at};
    const Path path = path_before(code, place.at);
    if (path.valid()) {
      expression.first = path.all.first;
    } else if (code.brackets.closed(place.at - 1) &&
               code.brackets.partner(place.at - 1) < place.at) {
      expression.first = code.brackets.partner(place.at - 1);  // (*kernel)<<<…>>>
      if (expression.first > 0 && code.source.is_name(expression.first - 1)) --expression.first;
    } else {
      return;
    }
    Launch launch;
    launch.via = "<<<>>>";
    launch.expression = code.text(expression);
    const std::vector<Range> arguments = arguments_of(code, place.at);
    if (arguments.size() > 0) launch.grid = value_text(place, arguments[0]);
    if (arguments.size() > 1) launch.block = value_text(place, arguments[1]);
    if (arguments.size() > 2) launch.shared_memory = value_text(place, arguments[2]);
    if (arguments.size() > 3) launch.stream = code.text(arguments[3]);
    size_t last = code.brackets.partner(place.at) + 3;
    if (code.is(last, "(") && code.brackets.closed(last)) last = code.brackets.partner(last);
    report(place, std::move(launch), choose_kernel(around(), place, expression), expression.first,
           last);
  }

  struct Use {
    Path path;
    size_t open = 0, close = 0;  // its arguments' brackets
    std::vector<Range> arguments;
  };
  // name<…>(…)
  static std::optional<Use> use_at(const Code& code, size_t name) {
    Use use;
    use.open = name + 1;
    if (code.is(use.open, "<") && code.brackets.closed(use.open)) use.open = code.past(use.open);
    if (!code.is(use.open, "(") || !code.brackets.closed(use.open)) return std::nullopt;
    use.close = code.brackets.partner(use.open);
    use.arguments = arguments_of(code, use.open);
    use.path = path_before(code, use.open);
    if (!use.path.valid()) return std::nullopt;
    return use;
  }

  bool call(const Place& place, const LaunchCall& row) {
    const Code& code = place.code;
    const std::optional<Use> use = use_at(code, place.at);
    // Outside functions it is a declaration, or a macro that defines the function.
    if (!use || (!function_index_ && !forced_lines_)) return false;
    if (!row.qualifier.empty()) {
      const std::vector<size_t>& names = use->path.names;
      if (names.size() < 2 || !code.is(names[names.size() - 2], row.qualifier)) return false;
    }
    Launch launch;
    launch.via = row.name;
    const std::vector<Range>& given = use->arguments;
    KernelChoice choice;
    if (row.kernel_class) {
      if (use->path.arguments.back() == SIZE_MAX) return false;
      const std::vector<Range> types = arguments_of(code, use->path.arguments.back());
      if (*row.kernel_class >= types.size()) return false;
      launch.expression = code.text(types[*row.kernel_class]);
      choice = choose_class(around(), place, types[*row.kernel_class]);
    } else {
      if (!row.kernel || *row.kernel >= given.size()) return false;
      launch.expression = code.text(given[*row.kernel]);
      choice = choose_kernel(around(), place, given[*row.kernel]);
    }
    fill(place, row, given, launch);
    report(place, std::move(launch), std::move(choice), use->path.all.first, use->close);
    return true;
  }

  static void fill(const Place& place, const LaunchCall& row, const std::vector<Range>& given,
                   Launch& launch) {
    const auto dimensions = [&](const std::optional<LaunchCall::Dimensions>& at) -> std::string {
      if (!at || at->first + at->count > given.size()) return {};
      std::string text = value_text(place, given[at->first]);
      for (size_t k = 1; k < at->count; ++k) text += ", " + place.code.text(given[at->first + k]);
      return text;
    };
    launch.grid = dimensions(row.grid);
    launch.block = dimensions(row.block);
    if (row.shared_memory && *row.shared_memory < given.size()) {
      launch.shared_memory = value_text(place, given[*row.shared_memory]);
    }
    if (row.stream && *row.stream < given.size()) {
      launch.stream = place.code.text(given[*row.stream]);
    }
    for (const LaunchCall::Attribute& attribute : row.attributes) {
      if (attribute.argument && *attribute.argument >= given.size()) continue;
      const std::string argument =
          attribute.argument ? value_text(place, given[*attribute.argument]) : std::string();
      std::string text = attribute.name == "cluster"
                             ? "cluster " + argument
                             : conditional_attribute(attribute.name, argument);
      if (!text.empty()) launch.attributes.push_back(std::move(text));
    }
    if (row.config && *row.config < given.size()) {
      read_launch_config(place, given[*row.config], launch);
    }
  }

  const Macro* find_macro(std::string_view name, uint32_t line, size_t arguments) const {
    if (const Macro* macro = macros_.find(name, line)) return macro;
    const auto others = known_.launch_macros.find(name);
    if (others == known_.launch_macros.end()) return nullptr;
    for (const Macro& macro : others->second) {
      if (takes_arguments(macro, arguments)) return &macro;
    }
    return nullptr;
  }

  size_t macro_use(const Place& place, int depth) {
    const Code& code = place.code;
    if (!code.brackets.closed(place.at + 1) || expansions_left_ == 0) return 0;
    const size_t end = code.brackets.partner(place.at + 1) + 1;
    const FindMacro find = [&](std::string_view name, uint32_t line, size_t arguments) {
      return find_macro(name, forced_lines_ ? forced_lines_->first : line, arguments);
    };
    const Expansion expansion(expand(code.source, code.brackets, place.at, end, find));
    expansions_left_ -= std::min(expansions_left_, expansion.text.size());
    const bool outermost = !forced_lines_;
    if (outermost) {
      forced_lines_ = {code.source.tokens[place.at].line, code.source.tokens[end - 1].line};
      first_of_macro_ = found_.size();
    }
    const size_t before = found_.size();
    for (size_t i = 0; i < expansion.list.size();) {
      // A macro that could not be expanded stands for itself.
      i = step({expansion.code, expansion.values, i, 0, &place}, depth + 1);
    }
    for (size_t k = before; k < found_.size(); ++k) {
      found_[k].launch.via = std::string(code.source.at(place.at));
    }
    if (outermost) forced_lines_.reset();
    return end;
  }

  size_t helper(const Place& place, const LaunchHelper& helper) {
    const Code& code = place.code;
    const size_t i = place.at;
    if (helper.of_class) return class_template(place, helper);
    if (helper.method.empty()) {
      function_helper(place, helper);
      return i + 1;
    }
    size_t open = i + 1;
    if (code.is(open, "<") && code.brackets.closed(open)) open = code.past(open);
    const bool named = code.source.is_name(open);  // Launcher name(…)
    const size_t variable = open;
    if (named) ++open;
    if ((!code.is(open, "(") && !code.is(open, "{")) || !code.brackets.closed(open)) return i + 1;
    Object object{&helper, {}, {}};
    for (const Range& one : arguments_of(code, open)) {
      object.arguments.push_back(value_text(place, one));
    }
    if (named) {
      objects_[code.source.at(variable)] = std::move(object);
      return code.past(open);
    }
    const size_t after = chain(place, object, code.past(open), i);
    if (code.is(after, ";") && i >= 2 && code.is(i - 1, "=") && code.source.is_name(i - 2)) {
      objects_[code.source.at(i - 2)] = std::move(object);
    }
    return after;
  }

  // .with(…).launch(kernel, …) or (kernel, …), behind an object.
  size_t chain(const Place& place, Object& object, size_t i, size_t first) {
    const Code& code = place.code;
    const LaunchHelper& helper = *object.helper;
    while (true) {
      std::string_view method = "operator()";
      size_t open = i;
      if ((code.is(i, ".") || code.is(i, "->")) && code.source.is_name(i + 1)) {
        method = code.source.at(i + 1);
        open = i + 2;
        if (code.is(open, "<") && code.brackets.closed(open)) open = code.past(open);
      }
      if (!code.is(open, "(") || !code.brackets.closed(open)) return i;
      const std::vector<Range> arguments = arguments_of(code, open);
      if (method == helper.method) {
        launch_object(place, object, arguments, first, code.brackets.partner(open));
        return code.past(open);
      }
      for (const LaunchHelper::Attribute& attribute : helper.attributes) {
        if (attribute.setter != method) continue;
        const bool has = attribute.condition && *attribute.condition < arguments.size();
        std::string text = conditional_attribute(
            attribute.name, has ? code.text(arguments[*attribute.condition]) : std::string());
        if (!text.empty()) object.attributes.push_back(std::move(text));
      }
      i = code.past(open);
    }
  }

  void launch_object(const Place& place, const Object& object, const std::vector<Range>& arguments,
                     size_t first, size_t last) {
    const LaunchHelper& helper = *object.helper;
    if (!helper.kernel || *helper.kernel >= arguments.size()) return;
    Launch launch;
    launch.via = helper.name;
    launch.expression = place.code.text(arguments[*helper.kernel]);
    const auto given = [&](const std::optional<size_t>& at) {
      return at && *at < object.arguments.size() ? object.arguments[*at] : std::string();
    };
    launch.grid = given(helper.grid);
    launch.block = given(helper.block);
    launch.shared_memory = given(helper.shared_memory);
    launch.stream = given(helper.stream);
    launch.attributes = object.attributes;
    KernelChoice choice = choose_kernel(around(), place, arguments[*helper.kernel]);
    if (!choice.found() && !choice.through_parameter()) return;
    report(place, std::move(launch), std::move(choice), first, last);
  }

  static bool sounds_like_kernel(std::string_view parameter) {
    std::string lower(parameter);
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return lower.find("kernel") != std::string::npos || lower.find("func") != std::string::npos;
  }

  void function_helper(const Place& place, const LaunchHelper& helper) {
    const Code& code = place.code;
    const std::optional<Use> use = use_at(code, place.at);
    if (!use) return;
    Launch launch;
    launch.via = helper.name;
    KernelChoice choice;
    if (helper.kernel) {
      if (*helper.kernel >= use->arguments.size()) return;
      launch.expression = code.text(use->arguments[*helper.kernel]);
      choice = choose_kernel(around(), place, use->arguments[*helper.kernel]);
    } else {
      if (!helper.kernel_template || use->path.arguments.back() == SIZE_MAX) return;
      const std::vector<Range> types = arguments_of(code, use->path.arguments.back());
      if (*helper.kernel_template >= types.size()) return;
      launch.expression = code.text(types[*helper.kernel_template]);
      choice = choose_template_argument(place, types[*helper.kernel_template]);
    }
    // Other functions have such names too: without a kernel it is none.
    const bool passed_on =
        choice.parameter && sounds_like_kernel(around().parameters[*choice.parameter]);
    if (!choice.found() && !passed_on) return;
    fill_from_helper(place, helper, use->arguments, launch);
    report(place, std::move(launch), std::move(choice), use->path.all.first, use->close);
  }

  KernelChoice choose_template_argument(const Place& place, Range argument) {
    KernelChoice choice = choose_kernel(around(), place, argument);
    if (choice.found()) return choice;
    choice = choose_class(around(), place, argument);
    std::erase_if(choice.kernels,
                  [&](const std::string& name) { return !known_.callable_classes.contains(name); });
    return choice;
  }

  static void fill_from_helper(const Place& place, const LaunchHelper& helper,
                               const std::vector<Range>& arguments, Launch& launch) {
    const auto given = [&](const std::optional<size_t>& at) {
      return at && *at < arguments.size() ? value_text(place, arguments[*at]) : std::string();
    };
    launch.grid = helper.grid ? given(helper.grid) : helper.grid_text;
    launch.block = helper.block ? given(helper.block) : helper.block_text;
    launch.shared_memory =
        helper.shared_memory ? given(helper.shared_memory) : helper.shared_memory_text;
    launch.stream = given(helper.stream);
    for (const LaunchHelper::Attribute& attribute : helper.attributes) {
      std::string text = conditional_attribute(attribute.name, given(attribute.condition));
      if (!text.empty()) launch.attributes.push_back(std::move(text));
    }
  }

  // Launcher<KernelClass>: naming it is what a launch comes down to.
  size_t class_template(const Place& place, const LaunchHelper& helper) {
    const Code& code = place.code;
    const size_t open = place.at + 1;
    if (!code.is(open, "<") || !code.brackets.closed(open)) return open;
    const std::vector<Range> types = arguments_of(code, open);
    if (*helper.kernel_template >= types.size()) return open;
    KernelChoice choice = choose_template_argument(place, types[*helper.kernel_template]);
    if (!choice.found()) return open;
    Launch launch;
    launch.via = helper.name;
    launch.expression = code.text(types[*helper.kernel_template]);
    report(place, std::move(launch), std::move(choice), place.at, code.brackets.partner(open));
    return open;
  }

  const Code& code_;
  const Definitions& definitions_;
  const KnownNames& known_;
  std::unordered_map<std::string_view, Word> words_;
  MacroTable macros_, object_macros_;
  std::unique_ptr<Values> values_;
  Surroundings around_;
  bool names_are_read_ = false;
  std::vector<const Class*> owners_;  // the classes around the function, outermost first
  size_t next_class_ = 0;
  std::optional<size_t> function_index_;
  std::map<std::string_view, Object, std::less<>> objects_;
  std::optional<std::pair<uint32_t, uint32_t>> forced_lines_;  // of the macro's use being expanded
  size_t first_of_macro_ = 0;
  size_t searches_left_ = 1 << 20;     // tokens
  size_t expansions_left_ = 16 << 20;  // bytes
  std::vector<FoundLaunch> found_;
};

}  // namespace

bool launches_directly(const Macro& macro) {
  if (macro.body.find("<<<") != std::string::npos) return true;
  for (const LaunchCall& call : launch_calls()) {
    if (call.qualifier.empty() && macro.body.find(call.name) != std::string::npos) return true;
  }
  return false;
}

std::vector<FoundLaunch> find_launches(const Code& code, const Definitions& definitions,
                                       const KnownNames& known) {
  return LaunchFinder(code, definitions, known).run();
}

}  // namespace fathom::cpp
