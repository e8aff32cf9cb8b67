#include <algorithm>
#include <cctype>

#include "base/text_parts.h"
#include "scan/cpp/launch_finder.h"

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

// The ( of the list that a token stands in; 0: none near.
size_t list_around(const Code& code, size_t at) {
  constexpr int kMostArguments = 64;
  for (int steps = 0; at > 1 && steps < kMostArguments; ++steps) {
    --at;
    if (!code.brackets.closed(at)) continue;
    const size_t partner = code.brackets.partner(at);
    if (partner > at) return code.is(at, "(") ? at : 0;
    at = partner;
  }
  return 0;
}

}  // namespace

const Macro* LaunchFinder::find_macro(std::string_view name, uint32_t line,
                                      std::optional<size_t> arguments) const {
  if (const Macro* macro = macros_.find(name, line)) return macro;
  for (const Macro& macro : value_or_empty(known_.launch_macros, name)) {
    if (!arguments || takes_arguments(macro, *arguments)) return &macro;
  }
  return nullptr;
}

size_t LaunchFinder::macro_use(const Place& place, int depth) {
  const Code& code = place.code;
  if (expansions_left_ == 0) return 0;
  const FindMacro find = [&](std::string_view name, uint32_t line, size_t arguments) {
    return find_macro(name, forced_lines_ ? forced_lines_->first : line, arguments);
  };
  const uint32_t used_at = forced_lines_ ? forced_lines_->first : code.source.tokens[place.at].line;
  const Macro* whole = find_macro(code.source.at(place.at), used_at, std::nullopt);
  if (whole != nullptr && !whole->parameters) {  // RUN_APPEND;
    if (!function_index_ && !forced_lines_) return 0;
    read_expansion(place, whole->body, place.at + 1, depth);
    return place.at + 1;
  }
  if (code.is(place.at + 1, "(")) {
    if (!code.brackets.closed(place.at + 1)) return 0;
    const size_t end = code.brackets.partner(place.at + 1) + 1;
    read_expansion(place, expand(code.source, code.brackets, place.at, end, find, expansions_left_),
                   end, depth);
    return end;
  }
  // A macro that is handed to another one, which will fill in its parameters.
  if (!code.is(place.at + 1, ")") && !code.is(place.at + 1, ",")) return 0;
  if (const size_t end = handed_over(place, depth)) return end;
  const uint32_t line = forced_lines_ ? forced_lines_->first : code.source.tokens[place.at].line;
  const Macro* macro = find_macro(code.source.at(place.at), line, std::nullopt);
  if (macro == nullptr || !function_index_) return 0;
  read_expansion(place, macro->body, place.at + 1, depth);
  return place.at + 1;
}

// EACH(RUN, float): what EACH makes of it, with RUN where it calls its parameter.
size_t LaunchFinder::handed_over(const Place& place, int depth) {
  const Code& code = place.code;
  const size_t open = list_around(code, place.at);
  if (open == 0) return 0;
  const size_t user = open - 1;
  const FindMacro find = [&](std::string_view name, uint32_t line, size_t count) -> const Macro* {
    if (forced_lines_) line = forced_lines_->first;
    if (const Macro* macro = find_macro(name, line, count)) return macro;
    const Macro* own = all_macros_.find(name, line);
    if (own != nullptr) return calls_parameter(*own) ? own : nullptr;
    for (const Macro& macro : value_or_empty(known_.passing_macros, name)) {
      if (takes_arguments(macro, count)) return &macro;
    }
    return nullptr;
  };
  const size_t arguments = arguments_of(code, open).size();
  if (!code.source.is_name(user) ||
      find(code.source.at(user), code.source.tokens[user].line, arguments) == nullptr)
    return 0;
  const size_t end = code.brackets.partner(open) + 1;
  read_expansion(place, expand(code.source, code.brackets, user, end, find, expansions_left_), end,
                 depth);
  return end;
}

bool calls_parameter(const Macro& macro) {
  if (!macro.parameters) return false;
  const std::string_view body = macro.body;
  for (std::string_view parameter : *macro.parameters) {
    if (parameter.empty() || parameter.ends_with("...")) continue;
    for (size_t at = body.find(parameter); at != std::string_view::npos;
         at = body.find(parameter, at + 1)) {
      const auto is_word = [&](size_t i) {
        return i < body.size() && (std::isalnum(static_cast<unsigned char>(body[i])) != 0 ||
                                   body[i] == '_' || body[i] == '#');
      };
      size_t after = at + parameter.size();
      if ((at > 0 && is_word(at - 1)) || is_word(after)) continue;
      while (after < body.size() && body[after] == ' ') ++after;
      if (after < body.size() && body[after] == '(') return true;
    }
  }
  return false;
}

void LaunchFinder::read_expansion(const Place& place, std::string text, size_t end, int depth) {
  const Code& code = place.code;
  const Expansion expansion(std::move(text));
  expansions_left_ -= std::min(expansions_left_, expansion.text.size());
  const bool outermost = !forced_lines_;
  if (outermost) {
    forced_lines_ = {code.source.tokens[place.at].line, code.source.tokens[end - 1].line};
    first_of_macro_ = found_.size();
  }
  const size_t before = found_.size();
  for (size_t i = 0; i < expansion.list.size();) {
    i = step({expansion.code, expansion.values, i, 0, &place}, depth + 1);
  }
  for (size_t k = before; k < found_.size(); ++k) {
    found_[k].launch.via = std::string(code.source.at(place.at));
  }
  if (outermost) forced_lines_.reset();
}

}  // namespace fathom::cpp
