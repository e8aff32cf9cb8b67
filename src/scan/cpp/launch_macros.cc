#include <algorithm>

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

}  // namespace

const Macro* LaunchFinder::find_macro(std::string_view name, uint32_t line,
                                      std::optional<size_t> arguments) const {
  if (const Macro* macro = macros_.find(name, line)) return macro;
  const auto others = known_.launch_macros.find(name);
  if (others == known_.launch_macros.end()) return nullptr;
  for (const Macro& macro : others->second) {
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
  if (code.is(place.at + 1, "(")) {
    if (!code.brackets.closed(place.at + 1)) return 0;
    const size_t end = code.brackets.partner(place.at + 1) + 1;
    read_expansion(place, expand(code.source, code.brackets, place.at, end, find, expansions_left_),
                   end, depth);
    return end;
  }
  // A macro that is handed to another one, which will fill in its parameters.
  if (!code.is(place.at + 1, ")") && !code.is(place.at + 1, ",")) return 0;
  const uint32_t line = forced_lines_ ? forced_lines_->first : code.source.tokens[place.at].line;
  const Macro* macro = find_macro(code.source.at(place.at), line, std::nullopt);
  if (macro == nullptr || !function_index_) return 0;
  read_expansion(place, macro->body, place.at + 1, depth);
  return place.at + 1;
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
