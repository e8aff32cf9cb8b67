#include "scan/cpp/rust_options.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "scan/facts/text_lines.h"

namespace fathom::cpp {
namespace {

constexpr size_t kMostOptions = 2000, kLongestDeclaration = 4000;

// Rust's text from a place on: comments, strings and brackets, as far as declarations need them.
class RustText {
 public:
  explicit RustText(std::string_view text) : text_(text) {}

  size_t size() const { return text_.size(); }
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool has(size_t i, std::string_view word) const {
    return text_.substr(std::min(i, size())).starts_with(word);
  }
  std::string_view part(size_t first, size_t last) const {
    return text_.substr(first, last - first);
  }

  // Past blanks and comments; the text of /// comments is added to `doc`.
  size_t past_blanks(size_t i, std::string* doc) const {
    while (i < size()) {
      if (std::isspace(static_cast<unsigned char>(text_[i])) != 0) {
        ++i;
      } else if (has(i, "//")) {
        const size_t end = std::min(text_.find('\n', i), size());
        if (doc != nullptr && has(i, "///")) {
          if (!doc->empty()) *doc += ' ';
          *doc += without_blanks_around(part(i + 3, end));
        }
        i = end;
      } else if (has(i, "/*")) {
        const size_t end = text_.find("*/", i + 2);
        i = end == std::string_view::npos ? size() : end + 2;
      } else {
        break;
      }
    }
    return i;
  }

  // Past the string that begins here: "…", or a character '…'. A lifetime 'a is a word.
  size_t past_string(size_t i) const {
    if (text_[i] == '\'') {
      if (at(i + 1) != '\\' && at(i + 2) != '\'') return i + 1;
      const size_t end = text_.find('\'', i + 2);
      return end == std::string_view::npos || end > i + 12 ? i + 1 : end + 1;
    }
    for (++i; i < size() && text_[i] != '"'; ++i) {
      if (text_[i] == '\\') ++i;
    }
    return std::min(i + 1, size());
  }

  // The end of what the bracket here opens, the bracket's own within; its begin where it is never
  // closed, or too far away.
  size_t past_bracket(size_t open) const {
    const size_t limit = std::min(size(), open + kLongestDeclaration);
    size_t depth = 0;
    for (size_t i = open; i < limit;) {
      const char c = text_[i];
      if (c == '"' || c == '\'') {
        i = past_string(i);
        continue;
      }
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i + 1;
      ++i;
    }
    return open;
  }

  size_t past_word(size_t i) const {
    while (i < size() && is_word_character(text_[i])) ++i;
    return i;
  }

 private:
  std::string_view text_;
};

struct Setting {
  std::string_view name, value;  // "long", "\"batch-size\""; no value: the name alone
};

// long = "x", short, default_value_t = 4
std::vector<Setting> settings_of(const RustText& text, size_t first, size_t last) {
  std::vector<Setting> out;
  for (size_t i = text.past_blanks(first, nullptr); i < last;) {
    const size_t name_end = text.past_word(i);
    if (name_end == i) break;
    Setting one{text.part(i, name_end), {}};
    size_t at = text.past_blanks(name_end, nullptr);
    const size_t value = text.at(at) == '=' ? text.past_blanks(at + 1, nullptr) : at;
    size_t end = value;
    while (end < last && text.at(end) != ',') {
      const char c = text.at(end);
      const size_t before = end;
      if (c == '"' || c == '\'') {
        end = text.past_string(end);
      } else if (c == '(' || c == '[' || c == '{') {
        end = text.past_bracket(end);
      }
      if (end == before) ++end;
    }
    end = std::min(end, last);
    one.value = without_blanks_around(text.part(value, std::max(value, end)));
    out.push_back(one);
    i = text.past_blanks(end + 1, nullptr);
  }
  return out;
}

std::string unquoted(std::string_view value) {
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\''))
    return std::string(value.substr(1, value.size() - 2));
  return std::string(value);
}

std::string with_dashes(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

// "Option<String>" → "String"
std::string plain_type(std::string_view type) {
  type = without_blanks_around(type);
  if (type.starts_with("Option<") && type.ends_with('>')) type = type.substr(7, type.size() - 8);
  return std::string(type);
}

class ClapReader {
 public:
  explicit ClapReader(std::string_view text) : text_(text), whole_(text) {}

  std::vector<Option> run() {
    if (!holds(whole_, "clap") && !holds(whole_, "structopt")) return {};
    for (size_t i = 0; i < text_.size() && out_.size() < kMostOptions;) {
      if (text_.at(i) == '"' || text_.at(i) == '\'') {
        i = text_.past_string(i);
      } else if (text_.has(i, "//") && !text_.has(i, "///")) {
        i = text_.past_blanks(i, nullptr);
      } else if (text_.has(i, "///")) {
        doc_.clear();
        i = text_.past_blanks(i, &doc_);
      } else if (text_.has(i, "#[")) {
        i = attribute(i);
      } else if (text_.has(i, "Arg::new(") || text_.has(i, "Arg::with_name(")) {
        i = chain(i);
      } else {
        if (std::isspace(static_cast<unsigned char>(text_.at(i))) == 0) doc_.clear();
        const size_t word = text_.past_word(i);
        i = word > i ? word : i + 1;
      }
    }
    return std::move(out_);
  }

 private:
  uint32_t line_of(size_t at) {
    for (; counted_ < at; ++counted_) line_ += whole_[counted_] == '\n' ? 1 : 0;
    return line_;
  }

  // #[arg(…)] name: Type; further attributes may stand between.
  size_t attribute(size_t first) {
    std::vector<Setting> settings;
    size_t i = first;
    std::string doc = doc_;
    while (text_.has(i, "#[")) {
      const size_t end = text_.past_bracket(i + 1);
      if (end == i + 1) return i + 2;
      for (const std::string_view word : {"arg(", "clap(", "structopt("}) {
        if (!text_.has(i + 2, word)) continue;
        const size_t open = i + 1 + word.size();
        for (const Setting& one : settings_of(text_, open + 1, end - 2)) settings.push_back(one);
      }
      i = text_.past_blanks(end, &doc);
    }
    doc_.clear();
    if (text_.has(i, "pub")) {
      i = text_.past_blanks(text_.past_word(i), nullptr);
      if (text_.at(i) == '(') i = text_.past_blanks(text_.past_bracket(i), nullptr);
    }
    const size_t name = i, name_end = text_.past_word(i);
    const size_t colon = text_.past_blanks(name_end, nullptr);
    if (name_end == name || text_.at(colon) != ':' || text_.at(colon + 1) == ':')
      return std::max(i, first + 2);
    size_t end = colon + 1;
    for (size_t depth = 0; end < text_.size() && end < colon + kLongestDeclaration; ++end) {
      const char c = text_.at(end);
      if (c == '<' || c == '(' || c == '[') ++depth;
      if ((c == '>' || c == ')' || c == ']') && depth > 0) --depth;
      if ((c == ',' || c == '}' || c == ';') && depth == 0) break;
    }
    declare(settings, text_.part(name, name_end), plain_type(text_.part(colon + 1, end)), doc,
            name);
    return end;
  }

  // Arg::new("name").long("name").short('n').help("…")
  size_t chain(size_t first) {
    const size_t open = first + text_.part(first, std::min(text_.size(), first + 20)).find('(');
    size_t i = text_.past_bracket(open);
    if (i == open) return open + 1;
    const std::string name = unquoted(without_blanks_around(text_.part(open + 1, i - 1)));
    std::vector<Setting> settings;
    while (true) {
      const size_t dot = text_.past_blanks(i, nullptr);
      if (text_.at(dot) != '.') break;
      const size_t word = text_.past_blanks(dot + 1, nullptr), end = text_.past_word(word);
      if (text_.at(end) != '(') break;
      const size_t close = text_.past_bracket(end);
      if (close == end) break;
      settings.push_back(
          {text_.part(word, end), without_blanks_around(text_.part(end + 1, close - 1))});
      i = close;
    }
    declare(settings, name, "", "", first);
    return i;
  }

  void declare(const std::vector<Setting>& settings, std::string_view name, std::string type,
               const std::string& doc, size_t at) {
    Option option;
    const auto add = [&](std::string one) {
      if (one.size() > 1) option.names.push_back(std::move(one));
    };
    for (const Setting& one : settings) {
      if (one.name == "long")
        add("--" + (one.value.empty() ? with_dashes(name) : unquoted(one.value)));
    }
    for (const Setting& one : settings) {
      if (one.name == "short")
        add("-" + (one.value.empty() ? std::string(name.substr(0, 1)) : unquoted(one.value)));
      if (one.name == "help") option.help = unquoted(one.value);
      if (one.name == "default_value" || one.name == "default_value_t")
        option.default_value = unquoted(one.value);
    }
    if (option.names.empty()) return;
    if (option.help.empty()) option.help = doc;
    if (option.default_value && option.default_value->empty()) option.default_value.reset();
    option.type = std::move(type);
    option.line = line_of(at);
    out_.push_back(std::move(option));
  }

  const RustText text_;
  const std::string_view whole_;
  std::string doc_;  // of what follows
  size_t counted_ = 0;
  uint32_t line_ = 1;
  std::vector<Option> out_;
};

}  // namespace

std::vector<Option> find_clap_options(std::string_view text) { return ClapReader(text).run(); }

uint32_t line_of_rust_main(std::string_view text) {
  uint32_t line = 1;
  for (size_t begin = 0; begin < text.size(); ++line) {
    std::string_view rest = text.substr(begin, text.find('\n', begin) - begin);
    begin += rest.size() + 1;
    for (const std::string_view word : {"pub ", "async "}) {
      if (rest.starts_with(word)) rest.remove_prefix(word.size());
    }
    if (rest.starts_with("fn main(")) return line;  // source text
  }
  return 0;
}

}  // namespace fathom::cpp
