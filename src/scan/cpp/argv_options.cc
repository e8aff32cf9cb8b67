#include <algorithm>
#include <array>
#include <optional>

#include "scan/cpp/cpp_options.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

std::string literal_text(std::string_view literal) {
  const size_t open = literal.find('"');
  if (open == std::string_view::npos || literal.size() < open + 2) return "";
  return std::string(literal.substr(open + 1, literal.size() - open - 2));
}

// What a function makes of the text of an argument; empty: it is none that we know.
std::string_view type_made_by(std::string_view function) {
  constexpr auto integers =
      std::to_array<std::string_view>({"atoi", "atol", "atoll", "stoi", "stol", "stoll", "stoul",
                                       "stoull", "strtol", "strtoll", "strtoul", "strtoull"});
  constexpr auto reals =
      std::to_array<std::string_view>({"atof", "stof", "stod", "strtod", "strtof"});
  constexpr auto texts =
      std::to_array<std::string_view>({"strcpy", "strncpy", "strdup", "snprintf"});
  const auto in = [&](const auto& names) {
    return std::find(names.begin(), names.end(), function) != names.end();
  };
  if (in(integers)) return "int";
  if (in(reals)) return "float";
  return in(texts) ? "string" : std::string_view();
}

class ArgvOptions {
 public:
  explicit ArgvOptions(const TokenList& source) : source_(source) {}

  std::vector<Option> run() {
    for (size_t i = 0; i + 2 < source_.size(); ++i) {
      if (source_.is(i, "argv")) compared_characters(i);
      if (source_.is(i, "strcmp") || source_.is(i, "strncmp") || source_.is(i, "strcasecmp")) {
        compared_text(i);
      }
    }
    for (Option& option : out_) {
      const auto is_long = [](const std::string& name) { return name.starts_with("--"); };
      const auto first = std::find_if(option.names.begin(), option.names.end(), is_long);
      if (first != option.names.end()) std::rotate(option.names.begin(), first, first + 1);
    }
    return std::move(out_);
  }

 private:
  // strcmp(argv[i], "--batch")
  void compared_text(size_t name) {
    if (!source_.is(name + 1, "(")) return;
    const auto close = closing_near(source_, name + 1);
    if (!close) return;
    bool argument = false;
    std::string spelled;
    for (size_t i = name + 2; i < *close; ++i) {
      if (source_.is(i, "argv")) argument = true;
      if (source_.tokens[i].kind == TokenKind::kString) spelled = literal_text(source_.at(i));
    }
    if (argument && spelled.starts_with('-') && spelled.size() > 1) add(name, spelled, false);
  }

  // argv[i][1] == 'b', also with && argv[i][2] == 's': -bs
  void compared_characters(size_t at) {
    const auto first = compared_character(at, "1");
    if (!first) return;
    std::string name = {'-', first->letter};
    bool more_may_follow = true;
    if (source_.is(first->after, "&&")) {
      const auto second = compared_character(first->after + 1, "2");
      if (second) more_may_follow = false;
      if (second && second->letter != '\0') name += second->letter;
    }
    add(at, name, more_may_follow);
  }

  struct ComparedCharacter {
    char letter;   // '\0': the text ends there
    size_t after;  // the token behind the comparison
  };

  // argv [ i ] [ position ] == 'x'
  std::optional<ComparedCharacter> compared_character(size_t at, std::string_view position) const {
    if (!source_.is(at, "argv") || !source_.is(at + 1, "[") || !source_.is(at + 3, "]")) return {};
    if (!source_.is(at + 4, "[") || !source_.is(at + 5, position) || !source_.is(at + 6, "]"))
      return {};
    if (!source_.is(at + 7, "==") || at + 8 >= source_.size()) return {};
    const std::string_view right = source_.at(at + 8);
    if (right == "'\\0'") return ComparedCharacter{'\0', at + 9};
    const bool one_letter =
        source_.tokens[at + 8].kind == TokenKind::kCharacter && right.size() == 3;
    if (!one_letter || right[1] == '-') return {};
    return ComparedCharacter{right[1], at + 9};
  }

  // One option for all names that one `if` compares with.
  void add(size_t token, const std::string& name, bool more_may_follow) {
    const auto condition = condition_around(token);
    if (condition && *condition == last_condition_ && !out_.empty()) {
      out_.back().names.push_back(name);
      return;
    }
    last_condition_ = condition.value_or(SIZE_MAX);
    Option option{Option::Source::kArgv, {name}, "", "", std::nullopt, source_.tokens[token].line};
    option.more_may_follow = more_may_follow;
    if (condition) read_branch(*condition, token, option);
    out_.push_back(std::move(option));
  }

  // The ( of the `if` that a comparison stands in.
  std::optional<size_t> condition_around(size_t token) const {
    constexpr size_t kLongest = 80;
    size_t depth = 0;
    for (size_t i = token; i-- > 0 && token - i < kLongest;) {
      if (source_.is(i, ";") || source_.is(i, "{") || source_.is(i, "}")) return std::nullopt;
      if (source_.is(i, ")")) ++depth;
      if (!source_.is(i, "(")) continue;
      if (depth > 0) {
        --depth;
      } else if (i > 0 && source_.is(i - 1, "if")) {
        return i;
      }
    }
    return std::nullopt;
  }

  // What the branch does with the argument tells the type, and what it sets the default.
  void read_branch(size_t condition, size_t token, Option& option) const {
    const auto close = closing_near(source_, condition);
    if (!close) return;
    const size_t first = *close + 1;
    size_t last = first;
    if (source_.is(first, "{")) {
      last = closing_near(source_, first).value_or(first);
    } else {
      while (last < source_.size() && !source_.is(last, ";")) ++last;
    }
    for (size_t i = first; i < last; ++i) {
      if (source_.is(i, "=") && source_.is_name(i - 1)) return assigned(i, last, token, option);
      const std::string_view type = type_made_by(source_.at(i));
      if (!type.empty() && source_.is(i + 1, "(") && source_.is_name(i + 2)) {
        option.type = type;  // strcpy(name, argv[i + 1])
        set_default(i + 2, token, option);
        return;
      }
    }
  }

  void assigned(size_t equals, size_t last, size_t token, Option& option) const {
    const size_t end = std::min(last, equals + 40);
    bool argument = false;
    for (size_t i = equals + 1; i < end && !source_.is(i, ";"); ++i) {
      if (source_.is(i, "argv")) argument = true;
      const std::string_view type = type_made_by(source_.at(i));
      if (!type.empty()) option.type = type;
    }
    if (argument && option.type.empty()) option.type = "string";
    if (!argument && (source_.is(equals + 1, "true") || source_.is(equals + 1, "1"))) {
      option.type = "flag";
    }
    // A field of an object has its first value elsewhere.
    const bool field = equals >= 2 && (source_.is(equals - 2, ".") || source_.is(equals - 2, "->"));
    if (!field) set_default(equals - 1, token, option);
  }

  // The value that the variable's declaration gives it: the nearest one above.
  void set_default(size_t variable, size_t before, Option& option) const {
    const std::string_view name = source_.at(variable);
    for (size_t i = before; i-- > 1;) {
      if (source_.at(i) != name || !source_.is_name(i)) continue;
      const bool typed = source_.is_name(i - 1) || source_.is(i - 1, "*") || source_.is(i - 1, ">");
      if (!typed || source_.is(i - 1, "return")) continue;
      size_t equals = i + 1;
      if (source_.is(equals, "[")) equals = closing_near(source_, equals).value_or(equals) + 1;
      if (source_.is(equals, ";")) return;  // no value yet
      if (!source_.is(equals, "=")) continue;
      size_t end = equals + 1;
      while (end < source_.size() && !source_.is(end, ";") && !source_.is(end, ",")) ++end;
      const bool literal =
          end == equals + 2 && source_.tokens[equals + 1].kind == TokenKind::kString;
      option.default_value =
          literal ? literal_text(source_.at(equals + 1)) : source_.source(equals + 1, end);
      return;
    }
  }

  const TokenList& source_;
  size_t last_condition_ = SIZE_MAX;
  std::vector<Option> out_;
};

}  // namespace

std::vector<Option> find_argv_options(const TokenList& source) { return ArgvOptions(source).run(); }

}  // namespace fathom::cpp
