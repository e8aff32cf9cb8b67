// Options whose names are a list of strings: option({"-n", "--count"}, "N", "how many", handler).
#include <algorithm>
#include <map>

#include "base/text_parts.h"
#include "scan/cpp/option_syntax.h"

namespace fathom::cpp {
namespace {

// Whether one of a name's words is of options, or it adds something: common_arg, AddFlag, add.
bool says_option(std::string_view name) {
  return std::ranges::any_of(words_in_name(name), [](const std::string& word) {
    return is_one_of(word, {"arg", "args", "argument", "opt", "option", "options", "flag", "switch",
                            "param", "parameter", "add", "cli"});
  });
}

class ListOptions {
 public:
  ListOptions(const TokenList& source, std::vector<Option>& into) : source_(source), into_(into) {}

  void run() {
    for (size_t i = 1; i + 4 < source_.size(); ++i) {
      // ( { "-…: cheap to see, and rare.
      if (!source_.is(i + 1, "{") || source_.tokens[i + 2].kind != TokenKind::kString) continue;
      if (!source_.is(i, "(") && !source_.is(i, "{")) continue;
      if (source_.at(i + 2).starts_with("\"-")) declaration(i);
    }
    // One list may be anything; many are a program's options.
    constexpr size_t kSure = 3;
    for (const auto& [callee, options] : by_callee_) {
      for (const size_t option : options) into_[option].certain = options.size() >= kSure;
    }
  }

 private:
  void declaration(size_t open) {
    const std::string_view callee = name_before(open);
    if (callee.empty() || !says_option(callee)) return;
    const auto arguments = option_arguments(source_, open);
    if (!arguments || arguments->ranges.size() < 2) return;
    Option option;
    option.source = Option::Source::kList;
    option.line = source_.tokens[open + 2].line;
    size_t at = 0;
    for (; at < arguments->ranges.size(); ++at) {
      const auto names = literals_of(source_, arguments->ranges[at]);
      if (!names) break;
      if (!std::all_of(names->begin(), names->end(), is_option_name)) return;
      option.names.insert(option.names.end(), names->begin(), names->end());
    }
    if (option.names.empty()) return;
    const size_t first_lists = at;
    std::string placeholder;
    for (; at < arguments->ranges.size(); ++at) read(arguments->ranges[at], placeholder, option);
    // Arguments of a compiler or a command are a list too; nobody explains those.
    if (option.help.empty()) return;
    if (option.type.empty() && !placeholder.empty()) option.type = placeholder;
    if (option.type.empty() && first_lists > 1) option.type = "flag";
    put_long_name_first(option.names);
    by_callee_[callee].push_back(into_.size());
    into_.push_back(std::move(option));
  }

  void read(OptionRange range, std::string& placeholder, Option& option) const {
    if (source_.is(range.first, "[")) return handler(range, option);
    if (!option.help.empty()) return;
    for (size_t i = range.first; i < range.last; ++i) {
      if (source_.tokens[i].kind != TokenKind::kString) continue;
      size_t end = i;
      std::string text;
      for (; end < range.last && source_.tokens[end].kind == TokenKind::kString; ++end)
        text += string_text(source_.at(end));
      if (is_prose_text(text)) {
        option.help = text;
        return;
      }
      if (range.last == range.first + 1) placeholder = text;
      i = end;
    }
  }

  // [](Params& params, int value) { … }: what it is given after the settings is the value.
  void handler(OptionRange range, Option& option) const {
    size_t open = range.first;
    while (open < range.last && !source_.is(open, "(")) ++open;
    if (open == range.last) return;
    const auto parameters = option_arguments(source_, open);
    if (!parameters || parameters->close >= range.last) return;
    if (parameters->ranges.size() < 2) {
      option.type = "flag";
      return;
    }
    OptionRange value = parameters->ranges[1];
    std::string type;
    for (size_t i = value.first; i < value.last; ++i) {
      if (source_.is(i, "string") || source_.is(i, "string_view")) type = "string";
      if (source_.is_name(i) && type.empty() && !source_.is(i, "const") && !source_.is(i, "std"))
        type = source_.at(i);
    }
    option.type = type;
  }

  // The name of what is called or made; empty: `vector<string> x = ({…})` and other expressions.
  std::string_view name_before(size_t open) const {
    if (source_.is_name(open - 1)) return source_.at(open - 1);
    return {};
  }

  const TokenList& source_;
  std::vector<Option>& into_;
  std::map<std::string_view, std::vector<size_t>> by_callee_;
};

}  // namespace

void find_list_options(const TokenList& source, std::vector<Option>& into) {
  ListOptions(source, into).run();
}

}  // namespace fathom::cpp
