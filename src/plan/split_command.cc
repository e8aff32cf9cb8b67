#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "plan/program.h"

namespace fathom {

bool is_placeholder(std::string_view argument) {
  if (argument.size() < 3 || argument.front() != '<' || argument.back() != '>') return false;
  return std::ranges::all_of(argument.substr(1, argument.size() - 2), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::vector<std::string> words_of_command(std::string_view command) {
  std::vector<std::string> words;
  size_t begin = 0;
  while (begin < command.size()) {
    const size_t end = std::min(command.find(' ', begin), command.size());
    if (end > begin) words.emplace_back(command.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Result<SplitCommand> split_command(std::string_view text) {
  constexpr size_t kLongestCommand = 64 * 1024;
  if (text.size() > kLongestCommand) return Error{"--command is longer than 64 kB"};
  if (text.find('\0') != std::string_view::npos) return Error{"--command holds a zero byte"};
  SplitCommand out;
  std::string word;
  bool open = false;  // a word has begun
  char quote = 0;
  const auto finish = [&] {
    if (open) out.words.push_back(std::move(word));
    word.clear();
    open = false;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool only_shell =
        quote == 0 ? std::string_view("|&;<>()$`*?{}~").find(c) != std::string_view::npos
                   : quote == '"' && (c == '$' || c == '`');
    // A tilde or a brace inside of a word is a letter.
    if (only_shell && !((c == '~' || c == '{' || c == '}' || c == '?' || c == '*') && open)) {
      return Error{fmt::format(
          "--command: '{}' needs a shell; put the command into a script and give that, or quote it",
          c)};
    }
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (quote == '"' && c == '\\' && i + 1 < text.size() &&
                 (text[i + 1] == '"' || text[i + 1] == '\\')) {
        word += text[++i];
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      finish();
    } else {
      word += c;
      open = true;
    }
  }
  if (quote != 0) return Error{fmt::format("--command: {} is not closed", quote)};
  finish();
  size_t variables = 0;
  for (; variables < out.words.size(); ++variables) {
    const std::string& one = out.words[variables];
    const size_t equals = one.find('=');
    const bool assigns = equals != std::string::npos && equals > 0 &&
                         std::ranges::all_of(one.substr(0, equals), is_word_character);
    if (!assigns) break;
    out.variables.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  out.words.erase(out.words.begin(), out.words.begin() + static_cast<std::ptrdiff_t>(variables));
  if (out.words.empty()) return Error{"--command is empty: a program and its arguments are wanted"};
  return out;
}

}  // namespace fathom
