#include <algorithm>
#include <cctype>

#include "base/text_parts.h"
#include "scan/cpp/cpp_options.h"

namespace fathom::cpp {
namespace {

bool is_name_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

void skip_spaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

// "-b" or "--batch" at the start of a text, which then begins behind it; empty: none.
std::string take_name(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && end < 2 && text[end] == '-') ++end;
  if (end == 0 || end >= text.size() || !is_name_letter(text[end])) return "";
  while (end < text.size() && is_name_part(text[end])) ++end;
  std::string name(text.substr(0, end));
  text.remove_prefix(end);
  return name;
}

// <int>, [int], INT: what stands for the value.
std::string take_placeholder(std::string_view& text) {
  skip_spaces(text);
  if (text.starts_with('=')) text.remove_prefix(1);
  if (text.starts_with('<') || text.starts_with('[')) {
    const size_t end = text.find(text.front() == '<' ? '>' : ']');
    if (end == std::string_view::npos) return "";
    std::string word(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    return word;
  }
  size_t end = 0;
  while (end < text.size() &&
         (std::isupper(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
    ++end;
  }
  // A single letter is a word of the help, unless a comma or a gap is behind it.
  const std::string_view behind = text.substr(end);
  const bool alone = behind.starts_with(',') || behind.starts_with("  ");
  if (end == 0 || (end == 1 && !alone) || (end < text.size() && is_name_part(text[end]))) return "";
  std::string word(text.substr(0, end));
  text.remove_prefix(end);
  return word;
}

// "(default = 4)", "(default: 1, …", "[default 0]", "default is x": up to what ends the value.
std::optional<std::string> default_in(std::string_view help) {
  const size_t at = help.find("default");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = help.substr(at + 7);
  const bool bracket = at > 0 && (help[at - 1] == '(' || help[at - 1] == '[');
  skip_spaces(rest);
  if (rest.starts_with("is ")) {
    rest.remove_prefix(3);
  } else if (rest.starts_with('=') || rest.starts_with(':')) {
    rest.remove_prefix(1);
  } else if (!bracket) {
    return std::nullopt;
  }
  skip_spaces(rest);
  rest = rest.substr(0, rest.find_first_of("()[];,"));
  while (!rest.empty() && (rest.back() == ' ' || rest.back() == '.')) rest.remove_suffix(1);
  // What printf fills in is not known here.
  if (rest.empty() || holds(rest, '%')) return std::nullopt;
  return std::string(rest);
}

void read_line(std::string_view text, uint32_t line, std::vector<UsageLine>& out) {
  skip_spaces(text);
  while (text.starts_with("\\t")) {
    text.remove_prefix(2);
    skip_spaces(text);
  }
  // [-n,--count <number>]: the whole line in brackets.
  const bool bracket = text.starts_with("[-");
  if (bracket) text.remove_prefix(1);
  UsageLine found;
  for (std::string name = take_name(text); !name.empty(); name = take_name(text)) {
    found.names.push_back(std::move(name));
    skip_spaces(text);
    if (text.starts_with(',') || text.starts_with('|') || text.starts_with('/')) {
      text.remove_prefix(1);
    } else if (text.starts_with("or -")) {
      text.remove_prefix(2);
    } else {
      break;
    }
    skip_spaces(text);
  }
  if (found.names.empty()) return;
  found.placeholder = take_placeholder(text);
  skip_spaces(text);
  // -n COUNT, --count COUNT
  if (std::string_view more = text; more.starts_with(',')) {
    more.remove_prefix(1);
    skip_spaces(more);
    if (std::string name = take_name(more); !name.empty()) {
      found.names.push_back(std::move(name));
      text = more;
    }
    take_placeholder(text);
    skip_spaces(text);
  }
  if (text.starts_with(':')) text.remove_prefix(1);
  skip_spaces(text);
  // [%d] is where printf puts the value that holds.
  if (text.starts_with("[%")) text.remove_prefix(std::min(text.find(']'), text.size() - 1) + 1);
  skip_spaces(text);
  found.help = text;
  while (!found.help.empty() && found.help.back() == ' ') found.help.pop_back();
  // Of a synopsis, "[-a] [-b <n>]", only the first is this line's.
  if (bracket) found.help.resize(std::min(found.help.find("] ["), found.help.size()));
  if (bracket && found.help.ends_with(']')) found.help.pop_back();
  if (found.help == "]" || found.help.starts_with("] ")) found.help.clear();
  if (found.help.empty() && found.placeholder.empty()) return;
  found.default_value = default_in(found.help);
  found.line = line;
  out.push_back(std::move(found));
}

}  // namespace

std::vector<UsageLine> find_usage_lines(const TokenList& source) {
  std::vector<UsageLine> out;
  for (size_t i = 1; i < source.size(); ++i) {
    if (source.tokens[i].kind != TokenKind::kString) continue;
    std::string_view text = source.at(i);
    const size_t open = text.find('"');
    if (open == std::string_view::npos || text.size() < open + 2) continue;
    text = text.substr(open + 1, text.size() - open - 2);
    // What a comparison names is no text for people.
    if (source.is(i + 1, ")") && !holds(text, ' ')) continue;
    uint32_t line = source.tokens[i].line;
    while (!text.empty()) {
      const size_t escape = text.find("\\n"), plain = text.find('\n');
      const size_t end = std::min({escape, plain, text.size()});
      read_line(text.substr(0, end), line, out);
      if (end == plain) ++line;
      text.remove_prefix(std::min(end + (end == escape ? 2 : 1), text.size()));
    }
  }
  return out;
}

}  // namespace fathom::cpp
