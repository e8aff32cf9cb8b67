#include "scan/cpp/receivers.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool stands_for_another(std::string_view name) {
  constexpr std::array<std::string_view, 6> names = {"unique_ptr", "shared_ptr",        "weak_ptr",
                                                     "optional",   "reference_wrapper", "atomic"};
  return is_one_of(name, names);
}

bool holds_others(std::string_view name) {
  constexpr std::array<std::string_view, 6> names = {"vector", "array", "deque",
                                                     "list",   "span",  "initializer_list"};
  return is_one_of(name, names);
}

// The class that a type is about: "Model" of std::unique_ptr<Model>, "Layer[]" of vector<Layer*>.
std::string class_in(const Code& code, const Path& path, int depth = 0) {
  constexpr int kDeepest = 4;
  const std::string_view last = code.source.at(path.names.back());
  const bool pointer = stands_for_another(last), list = holds_others(last);
  if (!pointer && !list) return path_name(code, path);
  if (path.arguments.back() == SIZE_MAX || depth == kDeepest) return path_name(code, path);
  const std::vector<Range> arguments = arguments_of(code, path.arguments.back());
  if (arguments.empty()) return path_name(code, path);
  size_t first = arguments[0].first;
  while (first < arguments[0].last && (code.is(first, "const") || code.is(first, "typename")))
    ++first;
  const Path inner = path_from(code, first, arguments[0].last);
  if (!inner.valid() || is_builtin_type(code.source.at(inner.names.back())))
    return path_name(code, path);
  return class_in(code, inner, depth + 1) + (list ? "[]" : "");
}

// What a variable is made of. "=x": it is x, or "=x[]" an element of x.
std::string class_of_value(const Code& code, size_t first, size_t last) {
  while (first < last && (code.is(first, "new") || code.is(first, "&") || code.is(first, "*")))
    ++first;
  const Path path = path_from(code, first, last);
  if (!path.valid()) return {};
  const size_t after = path.all.last;
  const std::string_view name = code.source.at(path.names.back());
  if (code.is(after, "(") || code.is(after, "{")) {
    const bool makes = name == "make_unique" || name == "make_shared";
    if (!makes) return path_name(code, path);
    if (path.arguments.back() == SIZE_MAX) return {};
    const std::vector<Range> types = arguments_of(code, path.arguments.back());
    const Path made = types.empty() ? Path() : path_from(code, types[0].first, types[0].last);
    return made.valid() ? path_name(code, made) : std::string();
  }
  if (path.names.size() != 1) return {};
  if (code.is(after, "[") && code.is(code.past(after), ";")) return "=" + std::string(name) + "[]";
  return code.is(after, ";") || code.is(after, ")") ? "=" + std::string(name) : std::string();
}

struct Variable {
  uint32_t line;
  std::string type;
};

class Receivers {
 public:
  Receivers(const Code& code, const Function& function, std::vector<Call>& calls)
      : code_(code), function_(function), calls_(calls) {}

  void run() {
    if (std::any_of(calls_.begin(), calls_.end(), [](const Call& call) { return call.member; }))
      read_parameters();
    read_variables();
    for (Call& call : calls_) {
      if (!call.member || call.receiver.empty()) continue;
      const std::string type = type_of(std::string_view(call.receiver).substr(1), call.line, 0);
      if (!type.empty()) call.receiver = type;
    }
    if (made_.empty()) return;
    calls_.insert(calls_.end(), made_.begin(), made_.end());
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const Call& a, const Call& b) { return a.line < b.line; });
  }

 private:
  // Empty: the function declares no such object; ".x": it is another one's that it does not.
  std::string type_of(std::string_view object, uint32_t line, int steps) const {
    const bool element = object.ends_with("[]");
    const std::string_view name = element ? object.substr(0, object.size() - 2) : object;
    const auto named = variables_.find(name);
    if (named == variables_.end()) return {};
    // The last declaration before the line; a parameter's is 0.
    const std::vector<Variable>& all = named->second;
    const auto after =
        std::upper_bound(all.begin(), all.end(), line,
                         [](uint32_t at, const Variable& one) { return at < one.line; });
    if (after == all.begin()) return {};
    std::string type = std::prev(after)->type;
    if (type.starts_with('=')) {
      constexpr int kMostSteps = 3;
      const std::string_view other = std::string_view(type).substr(1);
      if (steps == kMostSteps || other == name) return {};
      const std::string inner = type_of(other, line, steps + 1);
      return inner.empty() ? "." + std::string(other) : inner;
    }
    if (!type.ends_with("[]")) return type;
    if (element) return type.substr(0, type.size() - 2);
    return "std::vector";  // the list itself
  }

  void read_variables() {
    constexpr size_t kMost = 2000;
    const size_t first = function_.body_first, last = function_.body_last;
    for (size_t i = first + 2; i < last && count_ < kMost; ++i) {
      if (!code_.source.is_name(i) || is_keyword(code_.source.at(i))) continue;
      const bool ends = code_.is(i + 1, ";"), begins = code_.is(i + 1, "=");
      const bool each = code_.is(i + 1, ":");
      if (!ends && !begins && !each && !code_.is(i + 1, "(") && !code_.is(i + 1, "{")) continue;
      size_t type = i;
      while (type > first + 1 && (code_.is(type - 1, "*") || code_.is(type - 1, "&") ||
                                  code_.is(type - 1, "&&") || code_.is(type - 1, "const")))
        --type;
      const bool named = code_.source.is_name(type - 1) &&
                         (!is_keyword(code_.source.at(type - 1)) || code_.is(type - 1, "auto"));
      if (!named && !(code_.is(type - 1, ">") && code_.brackets.closed(type - 1))) continue;
      const Path path = code_.is(type - 1, "auto") ? Path{{type - 1, type}, {type - 1}, {SIZE_MAX}}
                                                   : path_before(code_, type);
      if (!path.valid() || path.all.first <= first || !begins_statement(path.all.first - 1, each))
        continue;
      const uint32_t line = code_.source.tokens[i].line;
      if (!code_.is(path.all.first, "auto")) {
        if (is_builtin_type(code_.source.at(path.names.back()))) continue;
        add(code_.source.at(i), line, class_in(code_, path));
        const bool plain = path.arguments.back() == SIZE_MAX && type == i;
        if (ends && plain && made_.size() < kMost && !code_.is(path.names[0], "std"))
          made_.push_back({path_name(code_, path), false, "", line});
      } else if (begins || each) {
        std::string value = class_of_value(code_, i + 2, last);
        if (each && value.starts_with('=')) value += "[]";
        if (!value.empty() && (!each || value.starts_with('=')))
          add(code_.source.at(i), line, std::move(value));
      }
    }
  }

  void add(std::string_view name, uint32_t line, std::string type) {
    variables_[name].push_back({line, std::move(type)});
    ++count_;
  }

  bool begins_statement(size_t before, bool each) const {
    if (code_.is(before, "(")) {
      return before > 0 && (code_.is(before - 1, "for") || code_.is(before - 1, "if") ||
                            code_.is(before - 1, "while"));
    }
    if (each) return code_.is(before, "const");
    return code_.is(before, ";") || code_.is(before, "{") || code_.is(before, "}") ||
           code_.is(before, ")") || code_.is(before, "const") || code_.is(before, "static") ||
           code_.is(before, ":") || code_.is(before, "else") || code_.is(before, "constexpr");
  }

  void read_parameters() {
    constexpr size_t kLongest = 20000;
    if (function_.parameters.size() > kLongest) return;
    const TokenList list = lex(function_.parameters);
    const Brackets brackets(list);
    const Code code{list, brackets};
    for (const Range& one : split_arguments(code, {0, list.size()})) {
      size_t first = one.first;
      while (first < one.last && (list.is(first, "const") || list.is(first, "typename"))) ++first;
      const Path path = path_from(code, first, one.last);
      if (!path.valid() || is_builtin_type(list.at(path.names.back()))) continue;
      size_t name = path.all.last;
      while (name < one.last && !(list.is_name(name) && !is_keyword(list.at(name)))) ++name;
      if (name >= one.last) continue;
      // The view must be of the function's own text.
      const Token& token = list.tokens[name];
      add(std::string_view(function_.parameters).substr(token.begin, token.end - token.begin), 0,
          class_in(code, path));
    }
  }

  const Code& code_;
  const Function& function_;
  std::vector<Call>& calls_;
  std::unordered_map<std::string_view, std::vector<Variable>> variables_;  // in order of line
  size_t count_ = 0;
  std::vector<Call> made_;
};

// The variables that the statements of a class declare.
class FieldReader {
 public:
  FieldReader(const Code& code, std::vector<Field>& out) : code_(code), out_(out) {}

  void read(const std::string& owner, size_t open) {
    size_t first = open + 1;
    bool plain = true;  // no brackets of a function
    const size_t close = code_.brackets.partner(open);
    for (size_t i = open + 1; i < close && i < code_.source.size(); i = code_.past(i)) {
      if (code_.is(i, "(")) plain = false;
      const bool label = code_.is(i, ":") && i == first + 1;  // public:
      const bool body = code_.is(i, "{") && !plain;
      if (code_.is(i, ";") && plain) statement(owner, first, i);
      if (!code_.is(i, ";") && !label && !body) continue;
      first = code_.past(i);
      plain = true;
    }
  }

 private:
  void statement(const std::string& owner, size_t first, size_t last) {
    constexpr size_t kMost = 20000;
    constexpr std::array<std::string_view, 6> before = {"const",     "static", "mutable",
                                                        "constexpr", "inline", "volatile"};
    while (first < last && is_one_of(code_.source.at(first), before)) ++first;
    const Path path = path_from(code_, first, last);
    if (!path.valid() || is_keyword(code_.source.at(path.names[0])) ||
        is_builtin_type(code_.source.at(path.names.back())) || out_.size() >= kMost)
      return;
    size_t name = path.all.last;
    while (name < last && (code_.is(name, "*") || code_.is(name, "&") || code_.is(name, "const")))
      ++name;
    if (name >= last || !code_.source.is_name(name)) return;
    const std::string type = class_in(code_, path);
    out_.push_back({owner, std::string(code_.source.at(name)), type});
  }

  const Code& code_;
  std::vector<Field>& out_;
};

}  // namespace

void find_receivers(const Code& code, const Function& function, std::vector<Call>& calls) {
  Receivers(code, function, calls).run();
}

std::vector<Field> find_fields(const Code& code, const std::vector<Class>& classes) {
  constexpr size_t kLongestHead = 400;  // tokens from a class's name to its {
  std::vector<Field> out;
  const auto& tokens = code.source.tokens;
  FieldReader reader(code, out);
  for (const Class& type : classes) {
    auto at = std::lower_bound(tokens.begin(), tokens.end(), type.line_name,
                               [](const Token& t, uint32_t line) { return t.line < line; });
    size_t i = static_cast<size_t>(at - tokens.begin());
    const size_t limit = std::min(code.source.size(), i + kLongestHead);
    while (i < limit && !code.is(i, type.name)) ++i;
    while (i < limit && !code.is(i, "{") && !code.is(i, ";")) ++i;
    if (i >= limit || !code.is(i, "{") || !code.brackets.closed(i)) continue;
    reader.read(qualified_name(type), i);
  }
  return out;
}

}  // namespace fathom::cpp
