#include "scan/cpp/option_syntax.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text_parts.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {

std::string string_text(std::string_view literal) {
  const size_t open = literal.find('"');
  if (open == std::string_view::npos || literal.size() < open + 2) return "";
  return std::string(literal.substr(open + 1, literal.size() - open - 2));
}

std::optional<OptionArguments> option_arguments(const TokenList& source, size_t open) {
  // A handler of an option is within its declaration, and may be long.
  constexpr size_t kMaxTokens = 2000;
  OptionArguments out;
  size_t depth = 0, first = open + 1;
  for (size_t i = open; i < std::min(source.size(), open + kMaxTokens); ++i) {
    const std::string_view token = source.at(i);
    if (token == "(" || token == "[" || token == "{") ++depth;
    if (token == ")" || token == "]" || token == "}") {
      if (--depth == 0) {
        if (i > first) out.ranges.push_back({first, i});
        out.close = i;
        return out;
      }
    }
    if (token == "," && depth == 1) {
      out.ranges.push_back({first, i});
      first = i + 1;
    }
  }
  return std::nullopt;
}

namespace {

// _T("name"), TEXT("name"), _("help"): wide characters or a translation of it.
bool is_text_macro(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || std::isupper(static_cast<unsigned char>(c)) != 0;
  });
}

}  // namespace

std::optional<std::string> literal_of(const TokenList& source, OptionRange range) {
  if (range.last > range.first + 3 && source.is_name(range.first) &&
      source.is(range.first + 1, "(") && source.is(range.last - 1, ")") &&
      is_text_macro(source.at(range.first))) {
    range = {range.first + 2, range.last - 1};
  }
  std::string out;
  for (size_t i = range.first; i < range.last; ++i) {
    if (source.tokens[i].kind != TokenKind::kString) return std::nullopt;
    out += string_text(source.at(i));
  }
  return range.last > range.first ? std::optional(out) : std::nullopt;
}

std::string text_of(const TokenList& source, OptionRange range) {
  return literal_of(source, range).value_or(source.source(range.first, range.last));
}

std::optional<std::vector<std::string>> literals_of(const TokenList& source, OptionRange range) {
  if (range.last < range.first + 3 || !source.is(range.first, "{") ||
      !source.is(range.last - 1, "}")) {
    return std::nullopt;
  }
  std::vector<std::string> out;
  bool wanted = true;
  for (size_t i = range.first + 1; i + 1 < range.last; ++i) {
    const bool text = source.tokens[i].kind == TokenKind::kString;
    if (text != wanted || (!text && !source.is(i, ","))) return std::nullopt;
    if (text) out.push_back(string_text(source.at(i)));
    wanted = !text;
  }
  return out;
}

std::optional<std::string> character_of(const TokenList& source, OptionRange range) {
  if (range.last != range.first + 1) return std::nullopt;
  if (source.tokens[range.first].kind != TokenKind::kCharacter) return std::nullopt;
  const std::string_view text = source.at(range.first);
  if (text.size() != 3 || std::isalnum(static_cast<unsigned char>(text[1])) == 0)
    return std::nullopt;
  return std::string(1, text[1]);
}

bool is_option_name(std::string_view text) {
  const size_t name = std::min(text.find_first_not_of('-'), text.size());
  if (name == 0 || name > 2 || name == text.size() || text.size() > 100) return false;
  if (std::isalnum(static_cast<unsigned char>(text[name])) == 0) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '+';
  });
}

void put_long_name_first(std::vector<std::string>& names) {
  const auto first = std::find_if(names.begin(), names.end(),
                                  [](const std::string& n) { return n.starts_with("--"); });
  if (first != names.end()) std::rotate(names.begin(), first, first + 1);
}

bool is_prose_text(std::string_view text) {
  const size_t space = text.find(' ');
  return space != std::string_view::npos && space > 0 && space + 1 < text.size();
}

std::vector<std::string> words_in_name(std::string_view name) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool begins =
        i > 0 && std::isupper(c) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if ((c == '_' || begins) && !words.back().empty()) words.emplace_back();
    if (c != '_') words.back() += static_cast<char>(std::tolower(c));
  }
  return words;
}

std::string_view type_made_by(std::string_view function) {
  constexpr auto integers =
      std::to_array<std::string_view>({"atoi", "atol", "atoll", "stoi", "stol", "stoll", "stoul",
                                       "stoull", "strtol", "strtoll", "strtoul", "strtoull"});
  constexpr auto reals =
      std::to_array<std::string_view>({"atof", "stof", "stod", "strtod", "strtof"});
  constexpr auto texts =
      std::to_array<std::string_view>({"strcpy", "strncpy", "strdup", "snprintf"});
  const auto in = [&](const auto& names) { return contains(names, function); };
  if (in(integers)) return "int";
  if (in(reals)) return "float";
  return in(texts) ? "string" : std::string_view();
}

namespace {

// The value that the variable's declaration gives it: the nearest one above.
void set_declared_default(const TokenList& source, size_t variable, size_t before, Option& option) {
  // Options are set in the function that declares their variables, or from those of the file.
  constexpr size_t kFarthest = 20000;
  const std::string_view name = source.at(variable);
  for (size_t i = before; i-- > 1 && before - i < kFarthest;) {
    if (!source.is(i, name) || !source.is_name(i)) continue;
    const bool typed = source.is_name(i - 1) || source.is(i - 1, "*") || source.is(i - 1, ">");
    if (!typed || source.is(i - 1, "return")) continue;
    size_t equals = i + 1;
    if (source.is(equals, "[")) equals = closing_near(source, equals).value_or(equals) + 1;
    if (source.is(equals, ";")) return;  // no value yet
    if (!source.is(equals, "=")) continue;
    size_t end = equals + 1;
    while (end < source.size() && !source.is(end, ";") && !source.is(end, ",")) ++end;
    const bool literal = end == equals + 2 && source.tokens[equals + 1].kind == TokenKind::kString;
    option.default_value =
        literal ? string_text(source.at(equals + 1)) : source.source(equals + 1, end);
    return;
  }
}

bool is_among(const TokenList& source, size_t i, const std::vector<std::string_view>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return source.is(i, name); });
}

void read_assignment(const TokenList& source, size_t equals, const OptionStatement& statement,
                     const std::vector<std::string_view>& arguments, Option& option) {
  const size_t end = std::min(statement.last, equals + 40);
  bool argument = false;
  for (size_t i = equals + 1; i < end && !source.is(i, ";"); ++i) {
    if (is_among(source, i, arguments)) argument = true;
    const std::string_view type = type_made_by(source.at(i));
    if (!type.empty()) option.type = type;
  }
  if (argument && option.type.empty()) option.type = "string";
  if (!argument && (source.is(equals + 1, "true") || source.is(equals + 1, "1"))) {
    option.type = "flag";
  }
  // A field of an object has its first value elsewhere.
  const bool field = equals >= 2 && (source.is(equals - 2, ".") || source.is(equals - 2, "->"));
  if (!field) set_declared_default(source, equals - 1, statement.before, option);
}

}  // namespace

void read_setting(const TokenList& source, const OptionStatement& statement,
                  const std::vector<std::string_view>& arguments, Option& option) {
  // A check that there is one more argument may set something first: what is set from it counts.
  for (size_t i = statement.first; i < statement.last; ++i) {
    if (!source.is(i, "=") || !source.is_name(i - 1)) continue;
    for (size_t j = i + 1; j < std::min(statement.last, i + 40) && !source.is(j, ";"); ++j) {
      if (is_among(source, j, arguments))
        return read_assignment(source, i, statement, arguments, option);
    }
  }
  bool takes_next = false;  // ++i: the next argument is its value
  for (size_t i = statement.first; i + 1 < statement.last; ++i) {
    takes_next = takes_next || (source.is(i, "+") && source.is(i + 1, "+")) || source.is(i, "++");
  }
  for (size_t i = statement.first; i < statement.last; ++i) {
    if (source.is(i, "=") && source.is_name(i - 1)) {
      if (takes_next) return;
      return read_assignment(source, i, statement, arguments, option);
    }
    const std::string_view type = type_made_by(source.at(i));
    if (!type.empty() && source.is(i + 1, "(") && source.is_name(i + 2)) {
      option.type = type;  // strcpy(name, argv[i + 1])
      set_declared_default(source, i + 2, statement.before, option);
      return;
    }
  }
}

}  // namespace fathom::cpp
