#include "scan/cpp/launches.h"

#include <algorithm>

#include "base/text_parts.h"
#include "scan/cpp/launch_config.h"
#include "scan/cpp/launch_finder.h"

namespace fathom::cpp {
namespace {

void fill(const Place& place, const LaunchCall& row, const std::vector<Range>& given,
          Launch& launch) {
  const auto dimensions = [&](const std::optional<LaunchCall::Dimensions>& at) -> std::string {
    if (!at || at->first + at->count > given.size()) return {};
    std::string text = value_text(place, given[at->first]);
    for (size_t k = 1; k < at->count; ++k)
      text += ", " + written_text(place.code, given[at->first + k]);
    return text;
  };
  launch.grid = dimensions(row.grid);
  launch.block = dimensions(row.block);
  if (row.shared_memory && *row.shared_memory < given.size()) {
    launch.shared_memory = value_text(place, given[*row.shared_memory]);
  }
  if (row.stream && *row.stream < given.size()) {
    launch.stream = written_text(place.code, given[*row.stream]);
  }
  for (const LaunchCall::Attribute& attribute : row.attributes) {
    if (attribute.argument && *attribute.argument >= given.size()) continue;
    const std::string argument =
        attribute.argument ? value_text(place, given[*attribute.argument]) : std::string();
    if (attribute.kind == LaunchAttribute::Kind::kCluster) {
      launch.attributes.push_back({attribute.kind, argument, ""});
    } else {
      add_attribute_if(argument, {attribute.kind}, launch.attributes);
    }
  }
  if (row.config && *row.config < given.size()) {
    read_launch_config(place, given[*row.config], launch);
  }
}

}  // namespace

LaunchFinder::LaunchFinder(const Code& code, const Definitions& definitions,
                           const KnownNames& known)
    : code_(code),
      definitions_(definitions),
      known_(known),
      around_{definitions, known, code},
      handles_(code, definitions) {
  collect_words();
  around_.handles = &handles_;
  around_.macros = &all_macros_;
  around_.searches_left = &searches_left_;
}

void LaunchFinder::collect_words() {
  for (const LaunchCall& call : launch_calls()) words_[call.name].call = &call;
  for (const auto& [name, helper] : known_.launch_helpers) words_[name].helper = &helper;
  for (const auto& [name, macros] : known_.launch_macros) words_[name].macro = true;
  std::vector<const Macro*> own;
  own.reserve(definitions_.macros.size());
  for (const Macro& macro : definitions_.macros) own.push_back(&macro);
  const std::set<std::string, std::less<>> reaching =
      macros_reaching(own, launches_directly, [&](std::string_view name) {
        return known_.launch_macros.contains(name) || known_.launch_helpers.contains(name);
      });
  for (const Macro& macro : definitions_.macros) {
    if (reaching.contains(macro.name)) words_[macro.name].macro = true;
  }
  macros_.add(definitions_.macros, [&](const Macro& one) { return reaching.contains(one.name); });
  all_macros_.add(definitions_.macros, [](const Macro&) { return true; });
  for (const auto& [name, word] : words_) word_sieve_.add(name);
}

const LaunchFinder::Word* LaunchFinder::word_at(const Code& code, size_t name) const {
  const std::string_view text = code.source.at(name);
  if (!word_sieve_.may_contain(text)) return nullptr;
  return find_value(words_, text);
}

std::vector<FoundLaunch> LaunchFinder::run() {
  if (!has_launch_words()) return {};
  values_ = std::make_unique<Values>(code_);
  branches_ = find_branches(code_.source);
  around_.branches = &branches_;
  constants_ = find_kernel_constants(code_, known_);
  around_.constants = &constants_;
  const std::vector<Function>& functions = definitions_.functions;
  size_t next = 0;
  for (size_t i = 0; i < code_.source.size();) {
    while (next < functions.size() && functions[next].body_first <= i) enter(next++);
    if (around_.function != nullptr && i > around_.function->body_last) leave();
    const size_t from = around_.function == nullptr ? 0 : around_.function->body_first;
    i = step({code_, *values_, i, from, nullptr}, 0);
  }
  return std::move(found_);
}

bool LaunchFinder::has_launch_words() const {
  for (size_t i = 0; i < code_.source.size(); ++i) {
    const Token& token = code_.source.tokens[i];
    if (token.kind == TokenKind::kIdentifier) {
      if (word_at(code_, i) != nullptr) return true;
    } else if (token.kind == TokenKind::kPunctuator && token.end - token.begin == 3 &&
               code_.is(i, "<<<")) {
      return true;
    }
  }
  return false;
}

void LaunchFinder::enter(size_t index) {
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

void LaunchFinder::leave() {
  around_.function = nullptr;
  function_index_.reset();
  names_are_read_ = false;
  objects_.clear();
}

const Surroundings& LaunchFinder::around() {
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

size_t LaunchFinder::step(Place place, int depth) {
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
    if (object != objects_.end()) {
      chain(place, object->second, i + 1, i);
      return i + 1;
    }
  }
  const Word* word = word_at(code, i);
  if (word == nullptr) return i + 1;
  if (word->macro && depth < 2) {
    if (const size_t end = macro_use(place, depth)) return end;
  }
  if (word->call != nullptr && !word->call->field.empty()) {
    node(place, *word->call);
    return i + 1;
  }
  if (word->call != nullptr && call(place, *word->call)) return i + 1;
  return word->helper != nullptr ? helper(place, *word->helper) : i + 1;
}

void LaunchFinder::report(const Place& place, Launch launch, KernelChoice choice, size_t first,
                          size_t last) {
  const uint32_t line = forced_lines_ ? forced_lines_->first : place.code.source.tokens[first].line;
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

bool LaunchFinder::merged(const Launch& launch) {
  for (size_t k = first_of_macro_; k < found_.size(); ++k) {
    Launch& before = found_[k].launch;
    if (before.kernels != launch.kernels || before.grid != launch.grid ||
        before.block != launch.block || before.attributes != launch.attributes) {
      continue;
    }
    if (!holds(before.template_arguments, launch.template_arguments) &&
        before.template_arguments.size() < 2000) {
      before.template_arguments += " | " + launch.template_arguments;
    }
    return true;
  }
  return false;
}

// kernel<T><<<grid, block, shared memory, stream>>>(…)
void LaunchFinder::triple(const Place& place) {
  const Code& code = place.code;
  if (!code.brackets.closed(place.at) || place.at == 0) return;
  Range expression{place.at, place.at};
  const Path path = path_before(code, place.at);
  if (path.valid()) {
    expression.first = path.all.first;
  } else if (code.brackets.closed(place.at - 1) && code.brackets.partner(place.at - 1) < place.at) {
    expression.first = code.brackets.partner(place.at - 1);  // (*kernel)<<<…>>>, table[i][j]<<<…>>>
    while (expression.first > 0 && code.is(expression.first - 1, "]") &&
           code.brackets.closed(expression.first - 1))
      expression.first = code.brackets.partner(expression.first - 1);
    if (expression.first > 0 && code.source.is_name(expression.first - 1)) --expression.first;
  } else {
    return;
  }
  Launch launch;
  launch.via = "<<<>>>";
  launch.expression = written_text(code, expression);
  const std::vector<Range> arguments = arguments_of(code, place.at);
  if (!arguments.empty()) launch.grid = value_text(place, arguments[0]);
  if (arguments.size() > 1) launch.block = value_text(place, arguments[1]);
  if (arguments.size() > 2) launch.shared_memory = value_text(place, arguments[2]);
  if (arguments.size() > 3) launch.stream = written_text(code, arguments[3]);
  size_t last = code.brackets.partner(place.at) + 3;
  if (code.is(last, "(") && code.brackets.closed(last)) {
    for (const Range& given : arguments_of(code, last))
      launch.arguments.push_back(written_text(code, given));
    last = code.brackets.partner(last);
  }
  report(place, std::move(launch), choose_kernel(around(), place, expression), expression.first,
         last);
}

std::optional<LaunchFinder::Use> LaunchFinder::use_at(const Code& code, size_t name) {
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

bool LaunchFinder::call(const Place& place, const LaunchCall& row) {
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
    launch.expression = written_text(code, types[*row.kernel_class]);
    choice = choose_class(around(), place, types[*row.kernel_class]);
  } else {
    if (!row.kernel || *row.kernel >= given.size()) return false;
    launch.expression = written_text(code, given[*row.kernel]);
    choice = choose_kernel(around(), place, given[*row.kernel]);
  }
  fill(place, row, given, launch);
  report(place, std::move(launch), std::move(choice), use->path.all.first, use->close);
  return true;
}

bool launches_directly(const Macro& macro) {
  const std::string_view body = macro.body;
  const size_t triple = body.find("<<<");
  // `#define LAUNCH kernel<<<` and a name in place of another are a part of a launch.
  const bool whole = macro.parameters.has_value();
  if (triple != std::string_view::npos && (whole || body.find(">>>", triple) != body.npos))
    return true;
  if (!holds(body, "aunch")) return false;  // all of them launch something
  for (const LaunchCall& call : launch_calls()) {
    const size_t name = call.qualifier.empty() ? body.find(call.name) : body.npos;
    if (name == body.npos) continue;
    const size_t after = body.find_first_not_of(' ', name + call.name.size());
    if (whole || (after != body.npos && body[after] == '(')) return true;
  }
  return false;
}

std::vector<FoundLaunch> find_launches(const Code& code, const Definitions& definitions,
                                       const KnownNames& known) {
  return LaunchFinder(code, definitions, known).run();
}

}  // namespace fathom::cpp
