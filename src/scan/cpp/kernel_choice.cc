#include "scan/cpp/kernel_choice.h"

#include <algorithm>
#include <utility>

#include "base/text_parts.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

constexpr int kMaxChoiceSteps = 8;
constexpr size_t kMaxKernels = 64, kMaxLooks = 64;

void add_once(std::vector<std::string>& list, std::string text) {
  if (list.size() < kMaxKernels && !contains(list, text)) {
    list.push_back(std::move(text));
  }
}

std::optional<size_t> position(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

class Chooser {
 public:
  Chooser(const Surroundings& around, KernelChoice& out) : around_(around), out_(out) {}

  void kernel(const Place& place, Range expression, int steps) {
    const Code& code = place.code;
    expression = without_casts(code, expression);
    if (expression.empty() || steps > kMaxChoiceSteps || !may_look()) return;
    if (alternatives(place, expression, steps) || held_in_function(place, expression)) return;
    // A lambda that gives one back, or a list of them.
    if (code.is(expression.first, "[") || code.is(expression.first, "{")) {
      return entry(place, expression, steps) ? void() : named_in(code, expression);
    }
    const Path path = path_from(code, expression.first, expression.last);
    if (!path.valid()) return;
    const std::string_view name = code.source.at(path.names.back());
    if (path.all.last < expression.last) {
      if (code.is(path.all.last, "{")) return named_in(code, {path.all.last, expression.last});
      if (code.is(path.all.last, "(") && asked_by_name(code, name, path.all.last)) return;
      // A local lambda's name, or a function's; a list's.
      if (code.is(path.all.last, "(") && !variable(place, name, steps)) called(name);
      const bool plain_name = path.names.size() == 1 && !position(around_.parameters, name);
      const bool in_table = code.is(path.all.last, "[") && plain_name;
      if (in_table) entry_ = literal_index(code, path.all.last);
      const size_t before = out_.kernels.size();
      if (in_table && !variable(place, name, steps)) chosen_elsewhere(name);
      if (out_.kernels.size() == before) held_in_file(place, expression);
      return;
    }
    if (name == "device_kernel" && path.arguments.back() != SIZE_MAX) {
      const std::vector<Range> arguments = arguments_of(code, path.arguments.back());
      if (arguments.empty()) return;
      out_.device_kernel = true;
      return type(place, arguments[0], steps + 1);
    }
    const bool plain = path.names.size() == 1;
    if (plain && path.arguments.back() == SIZE_MAX && macro(place, path.names[0], steps)) return;
    if (plain && path.arguments.back() == SIZE_MAX && variable(place, name, steps)) return;
    if (plain && (parameter(name) || lambda_parameter(place, name, steps))) return;
    if (!around_.known.kernels.contains(name))
      return constant(name) ? void() : held_in_file(place, expression);
    add_once(out_.kernels, path_name(code, path));
    const std::string arguments = path_arguments(code, path);
    if (!arguments.empty()) add_once(out_.template_arguments, arguments);
  }

  void type(const Place& place, Range range, int steps) {
    const Code& code = place.code;
    while (!range.empty() && (code.is(range.first, "typename") || code.is(range.first, "const"))) {
      ++range.first;
    }
    if (range.empty() || steps > kMaxChoiceSteps || !may_look()) return;
    const Path path = path_from(code, range.first, range.last);
    if (!path.valid()) return;
    for (size_t part = 0; part < path.names.size(); ++part) {
      const std::string_view name = code.source.at(path.names[part]);
      if (name != "conditional_t" && name != "conditional") continue;
      if (path.arguments[part] == SIZE_MAX) return;
      const std::vector<Range> arguments = arguments_of(code, path.arguments[part]);
      for (size_t k = 1; k < arguments.size() && k < 3; ++k) type(place, arguments[k], steps + 1);
      return;
    }
    const std::string_view name = code.source.at(path.names.back());
    const bool plain = path.names.size() == 1 && path.arguments.back() == SIZE_MAX;
    if (plain && alias(place, name, steps)) return;
    if (plain && type_parameter(name)) return;
    const auto wrapper = around_.known.class_wrappers.find(name);
    if (wrapper != around_.known.class_wrappers.end() && path.arguments.back() != SIZE_MAX) {
      const std::vector<Range> arguments = arguments_of(code, path.arguments.back());
      if (wrapper->second < arguments.size()) {
        return type(place, arguments[wrapper->second], steps + 1);
      }
    }
    add_once(out_.kernels, path_name(code, path));
    const std::string arguments = path_arguments(code, path);
    if (!arguments.empty()) add_once(out_.template_arguments, arguments);
  }

 private:
  static Range without_casts(const Code& code, Range range) {
    for (int steps = 0; steps < 16 && !range.empty(); ++steps) {
      if (code.is(range.first, "&") || code.is(range.first, "*")) {
        ++range.first;
      } else if (code.is(range.first, "(") && code.brackets.closed(range.first)) {
        const size_t closing = code.brackets.partner(range.first);
        // (expression) or (type) expression.
        range = closing + 1 >= range.last ? Range{range.first + 1, std::min(closing, range.last)}
                                          : Range{closing + 1, range.last};
      } else if (code.source.at(range.first).ends_with("_cast") && code.is(range.first + 1, "<") &&
                 code.is(code.past(range.first + 1), "(")) {
        const size_t open = code.past(range.first + 1);
        if (!code.brackets.closed(open)) break;
        range = {open + 1, std::min<size_t>(code.brackets.partner(open), range.last)};
      } else {
        break;
      }
    }
    return range;
  }

  // condition ? a : b
  bool alternatives(const Place& place, Range range, int steps) {
    const Code& code = place.code;
    size_t question = 0, colon = 0, nested = 0;
    for (size_t i = range.first; i < range.last; i = code.past(i)) {
      if (code.is(i, "?")) {
        if (question == 0) {
          question = i;
        } else {
          ++nested;
        }
      } else if (code.is(i, ":") && question != 0) {
        if (nested == 0) {
          colon = i;
          break;
        }
        --nested;
      }
    }
    if (colon == 0) return false;
    kernel(place, {question + 1, colon}, steps + 1);
    kernel(place, {colon + 1, range.last}, steps + 1);
    return true;
  }

  bool variable(const Place& place, std::string_view name, int steps) {
    for (const Place* in = &place; in != nullptr; in = in->around) {
      bool any = false;
      for (const Value& value : in->values.meanings(name, in->at, in->from)) {
        if (value.kind == ValueKind::kAlias) continue;
        Place there = *in;
        there.at = value.name;  // `k = k` means the k before
        Range range = in->values.range(value);
        if (value.kind == ValueKind::kConstructed) range = {range.first + 1, range.last - 1};
        any = true;
        // What macros assign to it stands between its declaration and here.
        const bool open = range.empty() || in->code.is(range.first, "nullptr");
        if (open && in->at > value.name && value.name >= in->from) {
          named_in(in->code, {value.name, in->at});
          if (out_.kernels.empty() && &in->code != &around_.file)
            held_in_expansion(*in, {value.name, value.name + 1});
        } else {
          kernel(there, range, steps + 1);
        }
      }
      if (any) return true;
    }
    return false;
  }

  // The kernels that are named in a range, or in the macros that are used there.
  void named_in(const Code& code, Range range, int depth = 0) {
    if (!may_search(range.last - range.first)) return;
    for (size_t i = range.first; i < range.last; ++i) {
      if (!code.source.is_name(i)) continue;
      const std::string_view name = code.source.at(i);
      if (around_.known.kernels.contains(name)) {
        add_once(out_.kernels, path_name(code, path_before(code, i + 1)));
      } else if (constant(name)) {
        continue;
      } else if (around_.macros != nullptr && depth < 4) {
        const Macro* used = around_.macros->find(name, code.source.tokens[i].line);
        if (used == nullptr || !may_search(used->body.size())) continue;
        const TokenList body = lex(used->body);
        const Brackets brackets(body);
        named_in({body, brackets}, {0, body.size()}, depth + 1);
      }
    }
  }

  bool macro(const Place& place, size_t name, int steps) {
    const TokenList& source = place.code.source;
    if (around_.macros == nullptr || &place.code != &around_.file) return false;
    const Macro* found = around_.macros->find(source.at(name), source.tokens[name].line);
    if (found == nullptr || found->parameters || found->body.size() > 1000) return false;
    expansion(place, *found, steps);
    for (const Macro* other : other_branches(*found, name)) expansion(place, *other, steps);
    return true;
  }

  void expansion(const Place& place, const Macro& macro, int steps) {
    const TokenList body = lex(macro.body);
    const Brackets brackets(body);
    const Code code{body, brackets};
    const Values none(code);
    kernel({code, none, 0, 0, &place}, {0, body.size()}, steps + 1);
  }

  // The same name's definitions in other branches of the #if that holds this one, behind all of
  // which it is used.
  std::vector<const Macro*> other_branches(const Macro& macro, size_t use) {
    constexpr size_t kMost = 8;
    std::vector<const Macro*> others;
    if (around_.branches == nullptr || !may_search(around_.branches->size())) return others;
    const std::vector<Branch>& branches = *around_.branches;
    const uint32_t own = branch_at_line(macro.line);
    if (own == kNoBranch) return others;
    // The #if, and its #endif.
    uint32_t begin = branches[own].first, end = branches[own].last;
    for (size_t i = own; i-- > 0;)
      if (branches[i].ended_by_else && branches[i].last == begin) begin = branches[i].first;
    for (size_t i = own; i < branches.size() && branches[i].first <= end; ++i)
      if (branches[i].first == end) end = branches[i].last;
    const auto line_of = [this](uint32_t token) { return around_.file.source.tokens[token].line; };
    if (end >= around_.file.source.size() || end > use) return others;
    const std::span<const Macro* const> all = around_.macros->all(macro.name);
    if (!may_search(all.size())) return others;
    for (const Macro* other : all) {
      const bool inside = other->line > line_of(begin) && other->line < line_of(end);
      if (other != &macro && inside && !other->parameters && others.size() < kMost)
        others.push_back(other);
    }
    return others;
  }

  uint32_t branch_at_line(uint32_t line) const {
    const std::vector<Token>& tokens = around_.file.source.tokens;
    const auto at = std::ranges::lower_bound(tokens, line, {}, &Token::line);
    return at == tokens.end()
               ? kNoBranch
               : branch_around(*around_.branches, static_cast<size_t>(at - tokens.begin()));
  }

  bool alias(const Place& place, std::string_view name, int steps) {
    for (const Place* in = &place; in != nullptr; in = in->around) {
      for (const Value& value : in->values.meanings(name, in->at, in->from)) {
        if (value.kind != ValueKind::kAlias) continue;
        Place there = *in;
        there.at = value.name;
        type(there, in->values.range(value), steps + 1);
        return true;
      }
    }
    return false;
  }

  bool parameter(std::string_view name) {
    out_.parameter = position(around_.parameters, name);
    return out_.parameter || type_parameter(name);
  }

  bool type_parameter(std::string_view name) {
    out_.template_parameter = position(around_.template_parameters, name);
    if (!out_.template_parameter) out_.class_parameter = position(around_.class_parameters, name);
    return out_.template_parameter || out_.class_parameter;
  }

  bool may_look() { return ++looks_ <= kMaxLooks && may_search(16); }

  bool may_search(size_t tokens) {
    if (around_.searches_left == nullptr || *around_.searches_left < tokens) return false;
    *around_.searches_left -= tokens;
    return true;
  }

  // A function that gives a kernel back: the kernels that its body names, or that it returns in
  // another file.
  void called(std::string_view name) {
    const std::vector<Function>& functions = around_.definitions.functions;
    if (!may_search(functions.size())) return;
    const size_t before = out_.kernels.size();
    for (const Function& function : functions) {
      if (function.name != name || function.kind != FunctionKind::kHost) continue;
      named_in(around_.file, {function.body_first, function.body_last});
    }
    if (out_.kernels.size() == before) chosen_elsewhere(name);
  }

  // The kernels that another file's function returns, or that its table holds.
  void chosen_elsewhere(std::string_view name) {
    const auto elsewhere = around_.known.kernel_choosers.find(name);
    if (elsewhere == around_.known.kernel_choosers.end()) return;
    for (const std::string& kernel : elsewhere->second) add_once(out_.kernels, kernel);
  }

  // Of a class or a namespace.
  bool constant(std::string_view name) {
    if (around_.constants == nullptr) return false;
    const auto found = around_.constants->find(name);
    if (found == around_.constants->end()) return false;
    add_all(found->second);
    return true;
  }

  void add_all(const std::vector<std::string>& names) {
    for (const std::string& name : names) add_once(out_.kernels, name);
  }

  bool held_in_function(const Place& place, Range expression) {
    if (around_.handles == nullptr || &place.code != &around_.file) return false;
    const auto names = around_.handles->held_in_function(expression, place.at, place.from);
    add_all(names);
    return !names.empty();
  }

  // A member, or a variable outside of functions.
  void held_in_file(const Place& place, Range expression) {
    if (around_.handles != nullptr && &place.code == &around_.file)
      add_all(around_.handles->held_in_file(expression));
  }

  // A macro that looks up what it launches.
  void held_in_expansion(const Place& in, Range variable) {
    static const Definitions kNone;
    if (may_search(in.code.source.size()))
      add_all(KernelHandles(in.code, kNone).held_in_function(variable, in.at, variable.first));
  }

  // module.GetFunction("name"), and functions of the file around such calls.
  bool asked_by_name(const Code& code, std::string_view function, size_t open) {
    if (around_.handles == nullptr || !around_.handles->gives_by_name(function)) return false;
    for (const Range& argument : arguments_of(code, open)) {
      const std::string_view text = code.source.at(argument.first);
      if (!text.starts_with('"') || text.size() < 3) continue;
      add_once(out_.kernels, std::string(text.substr(1, text.size() - 2)));
      return true;
    }
    return false;
  }

  // table[2]
  static std::optional<size_t> literal_index(const Code& code, size_t open) {
    if (!code.brackets.closed(open) || code.brackets.partner(open) != open + 2) return std::nullopt;
    return number_in<size_t>(code.source.at(open + 1));
  }

  // What a table holds at the index that was asked for.
  bool entry(const Place& place, Range table, int steps) {
    const auto at = std::exchange(entry_, std::nullopt);
    if (!at || !place.code.is(table.first, "{")) return false;
    const std::vector<Range> entries = arguments_of(place.code, table.first);
    if (*at >= entries.size() || place.code.is_any(entries[*at].first, {"[", "{", "."}))
      return false;
    kernel(place, entries[*at], steps + 1);
    return true;
  }

  // auto launch = [&](auto kernel, …) { kernel<<<…>>>(…); };  launch(first_kernel, …);
  bool lambda_parameter(const Place& place, std::string_view name, int steps) {
    const Place* in = &place;
    while (in->around != nullptr) in = in->around;
    const Code& code = in->code;
    if (&code != &around_.file) return false;
    uint32_t brace = code.brackets.enclosing(in->at);
    for (int depth = 0; depth < 32 && brace != Brackets::kNone && brace > in->from; ++depth) {
      size_t before = brace - 1;
      // [&](auto kernel) mutable -> cudaError_t {
      for (int back = 0; back < 8 && before > 0 && !code.is(before, ")"); ++back) --before;
      if (code.is(before, ")") && code.brackets.closed(before)) {
        const size_t open = code.brackets.partner(before);
        if (open > 0 && code.is(open - 1, "]") && code.brackets.closed(open - 1)) {
          const auto at = position(parameter_names(code.text({open + 1, before})), name);
          if (at) {
            lambda_calls(*in, code.brackets.partner(open - 1), brace, *at, steps);
            return true;
          }
        }
      }
      brace = code.brackets.enclosing(brace);
    }
    return false;
  }

  void lambda_calls(const Place& in, size_t introducer, size_t brace, size_t argument, int steps) {
    const Code& code = in.code;
    const auto call = [&](size_t open) {
      const std::vector<Range> arguments = arguments_of(code, open);
      if (argument >= arguments.size()) return;
      Place there = in;
      there.at = open;
      kernel(there, arguments[argument], steps + 1);
    };
    if (code.brackets.closed(brace) && code.is(code.brackets.partner(brace) + 1, "(")) {
      call(code.brackets.partner(brace) + 1);
    }
    if (introducer < 2 || !code.is(introducer - 1, "=") || around_.function == nullptr) return;
    const std::string_view name = code.source.at(introducer - 2);
    const size_t first = code.past(brace), last = around_.function->body_last;
    if (first > last || !may_search(last - first)) return;
    for (size_t i = first; i < last; ++i) {
      if (code.is(i, name) && code.is(i + 1, "(")) call(i + 1);
    }
    for (const Macro& one : around_.definitions.macros) {
      if (one.line < around_.function->line_first || one.line > around_.function->line_last)
        continue;
      if (!holds(one.body, name) || !may_search(one.body.size())) continue;
      const TokenList body = lex(one.body);
      const Brackets brackets(body);
      named_in({body, brackets}, {0, body.size()});
    }
  }

  const Surroundings& around_;
  KernelChoice& out_;
  std::optional<size_t> entry_;  // of the table that is read next
  size_t looks_ = 0;  // expressions read: each can have two sides, and each name many values
};

}  // namespace

KernelChoice choose_kernel(const Surroundings& around, const Place& place, Range expression) {
  KernelChoice choice;
  Chooser(around, choice).kernel(place, expression, 0);
  return choice;
}

KernelChoice choose_class(const Surroundings& around, const Place& place, Range type) {
  KernelChoice choice;
  choice.device_kernel = true;
  Chooser(around, choice).type(place, type, 0);
  return choice;
}

std::vector<std::string> parameter_names(std::string_view parameters) {
  // Lists come from headers that people wrote; beyond this they did not.
  if (parameters.size() > 20000) return {};
  const TokenList list = lex(parameters);
  const Brackets brackets(list);
  const Code code{list, brackets};
  std::vector<std::string> names;
  for (const Range& one : split_arguments(code, {0, list.size()})) {
    std::string name;
    for (size_t i = one.first; i < one.last; i = code.past(i)) {
      if (list.is(i, "=")) break;
      if (list.is(i, "(") && list.is(i + 1, "*") && list.is_name(i + 2)) {
        name = list.at(i + 2);  // void (*kernel)(Parameters...)
        break;
      }
      if (list.is_name(i) && !is_keyword(list.at(i)) && !is_builtin_type(list.at(i))) {
        name = list.at(i);
      }
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace fathom::cpp
