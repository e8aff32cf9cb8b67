#include "scan/cpp/references.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text_parts.h"
#include "scan/cpp/token_pattern.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

// What stands where a name could, and is none of the repository's.
bool is_statement_word(std::string_view name) {
  return is_keyword(name) || is_builtin_type(name) || is_specifier(name) ||
         is_one_of(name,
                   {"__attribute__", "defined", "false", "nullptr", "this", "true", "volatile"});
}

// What each template argument of a path begins with, where that is a name.
std::vector<std::string> argument_names(const Code& code, const Path& path) {
  std::vector<std::string> names;
  if (path.arguments.back() == SIZE_MAX) return names;
  for (const Range& one : arguments_of(code, path.arguments.back())) {
    size_t first = one.first;
    while (first < one.last && (code.is(first, "typename") || code.is(first, "const"))) ++first;
    names.push_back(path_name(code, path_from(code, first, one.last)));
  }
  return names;
}

bool is_sign_of_type(const Code& code, size_t i) {
  return code.is_any(i, {"*", "&", "&&", "const", "__restrict__"});
}

class ReferenceFinder {
 public:
  ReferenceFinder(const Code& code, Range range)
      : code_(code), first_(range.first), last_(std::min(range.last, code.source.size())) {}

  void declare_parameters(std::string_view text) {
    constexpr size_t kLongest = 20000;
    if (text.empty() || text.size() > kLongest) return;
    const TokenList list = lex(text);
    const Brackets brackets(list);
    const Code code{list, brackets};
    for (const Range& one : split_arguments(code, {0, list.size()})) {
      size_t first = one.first;
      while (first < one.last && (is_sign_of_type(code, first) || is_specifier(list.at(first)) ||
                                  list.at(first).starts_with("__")))
        ++first;
      const Path path = path_from(code, first, one.last);
      if (!path.valid() || is_statement_word(list.at(path.names.back()))) continue;
      size_t name = path.all.last;
      while (name < one.last && is_sign_of_type(code, name)) ++name;
      if (name < one.last && list.is_name(name))
        objects_[std::string(list.at(name))] = class_in(code, path);
    }
  }

  std::vector<Reference> run() {
    for (size_t i = first_; i < last_;) {
      // Most names are of variables that are read.
      if (!code_.source.is_name(i) || !may_lead_on(i + 1)) {
        ++i;
        continue;
      }
      if (code_.is(i, "auto")) deduced(i);
      const bool goes_on = i > first_ + 1 && code_.is(i - 1, "::") && ends_name(i - 2);
      i = goes_on || is_statement_word(code_.source.at(i)) ? i + 1 : path_at(i);
    }
    return std::move(references_);
  }

 private:
  // Whether what stands there can make a call, a path or a type of the name before it.
  bool may_lead_on(size_t i) const {
    if (i >= last_) return false;
    const Token& token = code_.source.tokens[i];
    return token.kind != TokenKind::kPunctuator ||
           std::string_view("(<:*&").find(code_.source.text[token.begin]) != std::string_view::npos;
  }
  // Of a::b<c>::d, not of `return ::d`.
  bool ends_name(size_t i) const {
    return code_.is(i, ">") || (code_.source.is_name(i) && !is_statement_word(code_.source.at(i)));
  }
  bool is_dot(size_t i) const { return code_.is(i, ".") || code_.is(i, "->"); }
  bool is_member(size_t at) const {
    return at > first_ && (is_dot(at - 1) || (code_.is(at - 1, "template") && at > first_ + 1));
  }

  size_t path_at(size_t at) {
    const Path path = path_from(code_, at, last_);
    const uint32_t line = code_.source.tokens[path.names.back()].line;
    const bool called = code_.is(path.all.last, "(");
    std::string name = path_name(code_, path);
    if (is_member(at)) {
      if (called) member_call(at, std::move(name), line);
    } else if (called && !is_declared_name(at)) {
      add({std::move(name), {}, ReferenceKind::kCall, line, argument_names(code_, path)});
      add_started(path);
    } else {
      declaration(path, std::move(name), line);
    }
    // Template arguments hold references of their own.
    const auto open = std::ranges::find_if(path.arguments, [](size_t i) { return i != SIZE_MAX; });
    return open == path.arguments.end() ? std::max(path.all.last, at + 1) : *open + 1;
  }

  // `Type name(…)`: the name of a variable, not a call.
  bool is_declared_name(size_t at) const {
    if (at == first_) return false;
    if (code_.source.is_name(at - 1)) {
      const std::string_view before = code_.source.at(at - 1);
      return !is_statement_word(before) || is_builtin_type(before) || before == "auto";
    }
    return code_.is(at - 1, ">") && code_.brackets.closed(at - 1);
  }

  // std::thread(f, …), std::async(std::launch::async, f, …): the function that they run.
  void add_started(const Path& callee) {
    if (!is_one_of(code_.source.at(callee.names.back()), {"thread", "jthread", "async"})) return;
    for (const Range& one : arguments_of(code_, callee.all.last)) {
      const size_t first = code_.is(one.first, "&") ? one.first + 1 : one.first;
      const Path path = path_from(code_, first, one.last);
      if (!path.valid() || path.all.last != one.last) return;
      if (path_name(code_, path).starts_with("std::launch")) continue;
      add({path_name(code_, path),
           {},
           ReferenceKind::kCall,
           code_.source.tokens[path.names.back()].line,
           argument_names(code_, path)});
      return;
    }
  }

  // Two names side by side declare the second; with a * or & between them at the beginning of a
  // statement alone.
  void declaration(const Path& path, std::string type, uint32_t line) {
    size_t name = path.all.last;
    while (is_sign_of_type(code_, name)) ++name;
    const bool plain = name == path.all.last;
    constexpr std::array<std::string_view, 7> ends = {"=", ";", "(", "{", ",", ":", ")"};
    const bool declares =
        name < last_ && code_.source.is_name(name) && !is_statement_word(code_.source.at(name)) &&
        name + 1 < code_.source.size() && is_one_of(code_.source.at(name + 1), ends) &&
        (plain || begins_statement(path.all.first));
    const bool templated = path.arguments.back() != SIZE_MAX;
    if (!declares && !templated) return;
    if (declares) objects_[std::string(code_.source.at(name))] = class_in(code_, path);
    const bool given = code_.is(name + 1, "(") || code_.is(name + 1, "{");
    const bool made = declares && plain && (given || (code_.is(name + 1, ";") && !templated)) &&
                      !code_.is(path.names[0], "std");
    add({std::move(type),
         {},
         made ? ReferenceKind::kMade : ReferenceKind::kType,
         line,
         argument_names(code_, path)});
  }

  bool begins_statement(size_t first) const {
    size_t before = first;
    while (before > first_ &&
           (is_specifier(code_.source.at(before - 1)) || code_.is(before - 1, "const") ||
            code_.is(before - 1, "volatile") || code_.source.at(before - 1).starts_with("__")))
      --before;
    if (before == first_ || code_.source.tokens[before - 1].kind == TokenKind::kDirective)
      return true;
    if (code_.is(before - 1, "(") && before > first_ + 1)
      return code_.is_any(before - 2, {"for", "if", "while"});
    return is_one_of(code_.source.at(before - 1), {";", "{", "}", ")", ":", "else"});
  }

  // auto name = value; for (auto& name : values)
  void deduced(size_t at) {
    size_t name = at + 1;
    while (is_sign_of_type(code_, name)) ++name;
    const bool each = code_.is(name + 1, ":");
    if (name >= last_ || !code_.source.is_name(name) || (!each && !code_.is(name + 1, "="))) return;
    std::string type = type_of_value(name + 2, each);
    if (!type.empty()) objects_[std::string(code_.source.at(name))] = std::move(type);
  }

  // What a variable is made of.
  std::string type_of_value(size_t first, bool each) const {
    while (first < last_ && (code_.is(first, "new") || is_sign_of_type(code_, first))) ++first;
    const Path path = path_from(code_, first, last_);
    if (!path.valid()) return {};
    const size_t after = path.all.last;
    const std::string_view name = code_.source.at(path.names.back());
    if (code_.is(after, "{") && !each) return path_name(code_, path);
    if (code_.is(after, "(") && !each) {
      const bool makes = name == "make_unique" || name == "make_shared";
      if (!makes) return path_name(code_, path) + "()";
      const std::vector<std::string> types = argument_names(code_, path);
      return types.empty() ? std::string() : types[0];
    }
    if (path.names.size() != 1) return {};
    const bool element = code_.is(after, "[") && code_.is(code_.past(after), ";");
    if (!element && !code_.is(after, ";") && !code_.is(after, ")")) return {};
    return type_of(std::string(name) + (element || each ? "[]" : ""));
  }

  // Of an object, "x" or "x[]"; ".x" where the code does not declare it.
  std::string type_of(const std::string& object) const {
    const bool element = object.ends_with("[]");
    const auto known = objects_.find(element ? object.substr(0, object.size() - 2) : object);
    if (known == objects_.end()) return "." + object;
    const std::string& type = known->second;
    if (type.starts_with('.')) return type + (element ? "[]" : "");
    if (!type.ends_with("[]")) return type;
    return element ? type.substr(0, type.size() - 2) : "std::vector";
  }

  void member_call(size_t at, std::string name, uint32_t line) {
    const size_t dot = code_.is(at - 1, "template") ? at - 2 : at - 1;
    if (dot > first_ && code_.is(dot - 1, "this"))
      return add({std::move(name), {}, ReferenceKind::kCall, line});
    add({std::move(name), type_before(dot), ReferenceKind::kMember, line});
  }

  // Of what stands before the . or -> at a token: x, this->x, x[i]; empty: it is a part of another
  // object, or another expression.
  std::string type_before(size_t dot) const {
    if (dot <= first_) return {};
    size_t name = dot - 1;
    const bool element = code_.is(name, "]") && code_.brackets.closed(name);
    if (element) name = code_.brackets.partner(name) - 1;
    if (name < first_ || name >= dot || !code_.source.is_name(name) ||
        is_statement_word(code_.source.at(name)))
      return type_made_before(dot);
    const std::string object = std::string(code_.source.at(name)) + (element ? "[]" : "");
    if (name == first_ || !is_dot(name - 1)) return type_of(object);
    return name > first_ + 1 && code_.is(name - 2, "this") ? "." + object : std::string();
  }

  // Consumer<T, P>(arguments).run() and Producer<P>{arguments}.run(): an object without a name. A
  // call in round brackets is taken for one where its name begins as types do.
  std::string type_made_before(size_t dot) const {
    const bool braces = code_.is(dot - 1, "}");
    if ((!braces && !code_.is(dot - 1, ")")) || !code_.brackets.closed(dot - 1)) return {};
    const size_t open = code_.brackets.partner(dot - 1);
    const Path path = open > first_ ? path_before(code_, open) : Path();
    if (!path.valid() || path.all.first < first_) return {};
    const std::string_view name = code_.source.at(path.names.back());
    const bool capital = name[0] >= 'A' && name[0] <= 'Z';
    return braces || capital ? std::string(name) : std::string();
  }

  void add(Reference reference) { references_.push_back(std::move(reference)); }

  const Code& code_;
  const size_t first_, last_;
  std::map<std::string, std::string, std::less<>> objects_;  // name → type, the last declared
  std::vector<Reference> references_;
};

}  // namespace

std::string class_in(const Code& code, const Path& type) {
  constexpr int kDeepest = 4;
  Path at = type;
  std::string lists_around;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const std::string_view last = code.source.at(at.names.back());
    const bool list =
        is_one_of(last, {"vector", "array", "deque", "list", "span", "initializer_list"});
    if ((!list && !is_one_of(last, {"unique_ptr", "shared_ptr", "weak_ptr", "optional",
                                    "reference_wrapper", "atomic"})) ||
        at.arguments.back() == SIZE_MAX)
      break;
    const std::vector<Range> arguments = arguments_of(code, at.arguments.back());
    if (arguments.empty()) break;
    size_t first = arguments[0].first;
    while (first < arguments[0].last && (code.is(first, "const") || code.is(first, "typename")))
      ++first;
    const Path inner = path_from(code, first, arguments[0].last);
    if (!inner.valid() || is_builtin_type(code.source.at(inner.names.back()))) break;
    at = inner;
    if (list) lists_around += "[]";
  }
  return path_name(code, at) + lists_around;
}

std::vector<Reference> find_references(const Code& code, Range range, std::string_view parameters) {
  ReferenceFinder finder(code, range);
  finder.declare_parameters(parameters);
  return finder.run();
}

std::vector<Reference> find_references(std::string_view text, uint32_t line,
                                       std::string_view parameters) {
  const TokenList list = lex(text);
  const Brackets brackets(list);
  std::vector<Reference> references =
      find_references(Code{list, brackets}, {0, list.size()}, parameters);
  for (Reference& reference : references) reference.line = line;
  return references;
}

std::vector<Reference> find_type_references(const Code& code, Range range) {
  std::vector<Reference> references;
  const size_t last = std::min(range.last, code.source.size());
  for (size_t i = range.first; i < last;) {
    const bool goes_on = i > range.first + 1 && code.is(i - 1, "::") && code.is(i - 2, ">");
    if (!code.source.is_name(i) || goes_on || is_statement_word(code.source.at(i))) {
      ++i;
      continue;
    }
    const Path path = path_from(code, i, last);
    const bool called = code.is(path.all.last, "(");
    references.push_back({path_name(code, path),
                          {},
                          called ? ReferenceKind::kCall : ReferenceKind::kType,
                          code.source.tokens[i].line,
                          argument_names(code, path)});
    const auto open = std::ranges::find_if(path.arguments, [](size_t a) { return a != SIZE_MAX; });
    i = open == path.arguments.end() ? std::max(path.all.last, i + 1) : *open + 1;
  }
  return references;
}

std::vector<std::string> template_parameter_names(std::string_view template_parameters) {
  const TokenList list = lex(template_parameters);
  std::vector<std::string> names;
  std::string name;
  bool value = false;  // after =, where a default stands
  size_t i = 0;
  if (list.is(0, "template")) i = list.is(1, "<") ? 2 : 1;
  for (; i < list.size(); ++i) {
    if (list.is(i, "<")) {
      i = closing_angle_near(list, i).value_or(list.size());
    } else if (list.is(i, "(") || list.is(i, "{") || list.is(i, "[")) {
      i = closing_near(list, i).value_or(list.size());
    } else if (list.is(i, ",") || list.is(i, ">")) {
      if (!name.empty()) names.push_back(std::move(name));
      name.clear();
      value = false;
    } else if (list.is(i, "=")) {
      value = true;
    } else if (list.is_name(i) && !value) {
      name = list.at(i);
    }
  }
  if (!name.empty()) names.push_back(std::move(name));
  return names;
}

}  // namespace fathom::cpp
