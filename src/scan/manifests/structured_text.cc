#include "scan/manifests/structured_text.h"

#include <algorithm>
#include <map>
#include <optional>

namespace fathom {
namespace {

constexpr int kMaxNestedTables = 64;
// Names are compared for each value below them.
constexpr size_t kMaxName = 1000;

class ValueReader {
 public:
  ValueReader(std::string_view text, const ValueVisitor& visit) : text_(text), visit_(visit) {}

  void toml() {
    size_t table = 0;  // how many names of the path are the table's
    while (skip_blanks(true), at_ < text_.size()) {
      if (text_[at_] == '[') {
        header();
        table = path().size();
      } else if (names('=')) {
        value(0);
      }
      path().resize(table);
      skip_line();
    }
  }

  void json() {
    skip_blanks(true);
    value(0);
  }

 private:
  std::vector<std::string>& path() { return found_.path; }
  void visit(std::string text, uint32_t line) {
    found_.value = std::move(text);
    found_.line = line;
    visit_(found_);
  }

  bool more() const { return at_ < text_.size(); }
  char here() const { return more() ? text_[at_] : '\0'; }
  void step() {
    if (here() == '\n') ++line_;
    ++at_;
  }

  void skip_blanks(bool lines_too) {
    while (more()) {
      const char c = here();
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\r' || (lines_too && c == '\n')) {
        step();
      } else {
        return;
      }
    }
  }

  void skip_line() {
    while (more() && here() != '\n') step();
  }

  // [a.b] or [[a.b]], whose tables are numbered.
  void header() {
    const bool is_list = text_.substr(at_).starts_with("[[");
    at_ += is_list ? 2 : 1;
    path().clear();
    if (!names(']')) return path().clear();
    if (!is_list) return;
    std::string joined;
    for (const std::string& name : path()) joined += name + '\n';
    path().push_back(std::to_string(tables_[joined]++));
  }

  // Names joined by dots up to a sign, added to the path. False: it is something else.
  bool names(char sign, char other_sign = '\0') {
    for (;;) {
      skip_blanks(false);
      std::string name;
      if (here() == '"' || here() == '\'') {
        name = string();
      } else {
        while (more() && is_bare(here())) {
          name += here();
          step();
        }
        if (name.empty()) return false;
      }
      if (name.size() > kMaxName) name.resize(kMaxName);
      path().push_back(std::move(name));
      skip_blanks(false);
      const char c = here();
      if (more()) step();
      if (c == sign || (c == other_sign && c != '\0')) return true;
      if (c != '.') return false;
    }
  }

  static bool is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || static_cast<unsigned char>(c) >= 0x80;
  }

  void value(int depth) {
    skip_blanks(false);
    const uint32_t line = line_;
    const char c = here();
    if (c == '"' || c == '\'') {
      visit(string(), line);
    } else if (c == '[' && depth < kMaxNestedTables) {
      list(depth);
    } else if (c == '{' && depth < kMaxNestedTables) {
      object(depth);
    } else {
      const size_t begin = at_;
      while (more() && std::string_view(",]}#\n").find(here()) == std::string_view::npos) step();
      std::string_view word = text_.substr(begin, at_ - begin);
      word = word.substr(0, word.find_last_not_of(" \t\r") + 1);
      if (!word.empty()) visit(std::string(word), line);
    }
  }

  void list(int depth) {
    step();
    for (size_t i = 0; more(); ++i) {
      skip_blanks(true);
      if (here() == ']') break;
      path().push_back(std::to_string(i));
      value(depth + 1);
      path().pop_back();
      skip_blanks(true);
      if (here() != ',') break;
      step();
    }
    if (here() == ']') step();
  }

  void object(int depth) {
    step();
    while (more()) {
      skip_blanks(true);
      if (here() == '}') break;
      const size_t outside = path().size();
      const bool named = names('=', ':');
      skip_blanks(true);
      if (named) value(depth + 1);
      path().resize(outside);
      skip_blanks(true);
      if (here() != ',') break;
      step();
    }
    if (here() == '}') step();
  }

  std::string string() {
    const char quote = here();
    const std::string_view rest = text_.substr(at_);
    const bool is_long = rest.starts_with("\"\"\"") || rest.starts_with("'''");
    at_ += is_long ? 3 : 1;
    if (is_long && here() == '\n') step();
    std::string out;
    while (more()) {
      if (here() == quote && (!is_long || text_.substr(at_).starts_with(std::string(3, quote)))) {
        at_ += is_long ? 3 : 1;
        return out;
      }
      if (here() == '\n' && !is_long) return out;  // never closed
      if (here() == '\\' && quote == '"') {
        step();
        if (more()) escaped(out);
      } else {
        out += here();
        step();
      }
    }
    return out;
  }

  void escaped(std::string& out) {
    const char c = here();
    step();
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        out += "\\u";
        break;
      case '\n':  // the line goes on
        skip_blanks(true);
        break;
      default:
        out += c;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  const ValueVisitor& visit_;
  TextValue found_;  // the path on the way to it, then the value
  std::map<std::string, size_t> tables_;
};

}  // namespace

void read_toml(std::string_view text, const ValueVisitor& visit) {
  ValueReader(text, visit).toml();
}

void read_json_values(std::string_view text, const ValueVisitor& visit) {
  ValueReader(text, visit).json();
}

bool path_is(const TextValue& value, std::initializer_list<std::string_view> form) {
  return std::ranges::equal(value.path, form, [](const std::string& name, std::string_view wanted) {
    return wanted == "*" || name == wanted;
  });
}

}  // namespace fathom
