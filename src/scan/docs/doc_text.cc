#include "scan/docs/doc_text.h"

#include <algorithm>

#include "base/text_parts.h"

namespace fathom {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

// Knows at each line whether it is code.
class BlockReader {
 public:
  explicit BlockReader(bool markdown) : markdown_(markdown) {}

  // Whether the line is part of a code block; the lines that open and close one are not.
  bool is_code(std::string_view line) { return markdown_ ? in_fence(line) : in_literal(line); }
  const std::string& language() const { return language_; }

 private:
  bool in_fence(std::string_view line) {
    const std::string_view text = trimmed(line);
    if (fence_.empty()) {
      fence_ = std::string(opened_fence(text));
      if (!fence_.empty()) set_language(text.substr(fence_.size()));
      return false;
    }
    if (text.starts_with(fence_) && text.find_first_not_of(fence_[0]) == std::string_view::npos) {
      fence_.clear();
      return false;
    }
    return true;
  }

  // reStructuredText: what is indented below a line that ends in "::".
  bool in_literal(std::string_view line) {
    const std::string_view text = trimmed(line);
    if (open_) {
      if (text.empty()) return false;
      if (indent_of(line) > indent_) return !text.starts_with(':');
      open_ = false;
    }
    if (text.ends_with("::") || holds(text, "code-block::") || holds(text, "code::")) {
      const size_t at = text.rfind("::");
      open_ = true;
      indent_ = indent_of(line);
      set_language(text.substr(at + 2));
    }
    return false;
  }

  // Each line of the block keeps it: what is longer than any language's name is none.
  void set_language(std::string_view written) {
    constexpr size_t kLongest = 40;
    const std::string_view name = trimmed(written);
    const size_t end = markdown_ ? name.find_first_of(" {,") : std::string_view::npos;
    language_ = name.substr(0, std::min(end, kLongest));
  }

  bool markdown_, open_ = false;
  size_t indent_ = 0;
  std::string fence_, language_;
};

}  // namespace

std::string_view opened_fence(std::string_view line) {
  if (!line.starts_with("```") && !line.starts_with("~~~")) return {};
  const size_t length = std::min(line.find_first_not_of(line[0]), line.size());
  if (line[0] == '`' && line.find('`', length) != std::string_view::npos) return {};
  return line.substr(0, length);
}

std::vector<DocLine> read_doc(std::string_view text, bool markdown) {
  std::vector<DocLine> out;
  BlockReader blocks(markdown);
  bool continued = false;
  for (uint32_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool code = blocks.is_code(line);
    const bool goes_on = code && line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    if (continued && code)
      (out.back().text += ' ') += line;
    else
      out.push_back({std::string(line), number, code, code ? blocks.language() : ""});
    continued = goes_on;
  }
  return out;
}

std::vector<std::vector<std::string>> shell_commands(std::string_view line) {
  line = trimmed(line);
  for (const std::string_view prompt : {"$ ", "> ", "% "}) {
    if (line.starts_with(prompt)) line.remove_prefix(2);
  }
  std::vector<std::vector<std::string>> out(1);
  std::string word;
  char quote = 0;
  const auto end_word = [&] {
    if (!word.empty()) out.back().push_back(std::move(word));
    word.clear();
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ' ' || c == '\t') {
      end_word();
    } else if (c == ';' || c == '|' || (c == '&' && line.substr(i, 2) == "&&")) {
      end_word();
      if (!out.back().empty()) out.emplace_back();
      if (line.substr(i, 2) == "&&" || line.substr(i, 2) == "||") ++i;
    } else if (c == '#' && word.empty()) {
      break;
    } else {
      word += c;
    }
  }
  end_word();
  if (out.back().empty()) out.pop_back();
  return out;
}

std::vector<std::string> table_cells(std::string_view line) {
  line = trimmed(line);
  std::vector<std::string> out;
  if (!line.starts_with('|') || std::count(line.begin(), line.end(), '|') < 2) return out;
  line.remove_prefix(1);
  std::string cell;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|') {
      out.emplace_back(trimmed(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  if (!trimmed(cell).empty()) out.emplace_back(trimmed(cell));
  return out;
}

std::vector<std::string> code_spans(std::string_view line) {
  std::vector<std::string> out;
  // How many backticks stand together there.
  const auto run_at = [line](size_t at) {
    return std::min(line.find_first_not_of('`', at), line.size()) - at;
  };
  for (size_t at = line.find('`'); at != std::string_view::npos; at = line.find('`', at)) {
    const size_t ticks = run_at(at);
    size_t end = line.find('`', at + ticks);
    while (end != std::string_view::npos) {
      const size_t closing = run_at(end);
      if (closing >= ticks) break;
      end = line.find('`', end + closing);
    }
    if (end == std::string_view::npos) break;
    out.emplace_back(trimmed(line.substr(at + ticks, end - at - ticks)));
    at = end + ticks;
  }
  return out;
}

}  // namespace fathom
