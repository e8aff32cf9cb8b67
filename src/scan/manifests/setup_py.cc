#include <algorithm>

#include "scan/facts/text_lines.h"
#include "scan/manifests/dependencies.h"

namespace fathom {
namespace {

// A string literal inside brackets: how deep it stands, and whether a ':' follows, as behind the
// keys of a dictionary.
struct Literal {
  std::string text;
  uint32_t line = 0;
  int depth = 0;
  bool is_key = false;
};

// Tells for places that go forward through a text whether a '#' stands before them on their line.
class CommentFinder {
 public:
  explicit CommentFinder(std::string_view text) : text_(text) {}
  bool is_comment(size_t place) {
    for (; at_ < place; ++at_) {
      if (text_[at_] == '#' || text_[at_] == '\n') inside_ = text_[at_] == '#';
    }
    return inside_;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  bool inside_ = false;
};

// Reads setup.py as text, which is not executed: a list that is computed stays unknown.
class SetupReader {
 public:
  explicit SetupReader(std::string_view text) : text_(text) {}

  // The literals of `name = […]`, `"name": […]` or `name = VARIABLE`; nothing where it is neither.
  std::vector<Literal> value_of(std::string_view name, bool follow_variable = true) const {
    CommentFinder comments(text_);
    for (size_t at = find_word(name, 0, comments); at != std::string_view::npos;
         at = find_word(name, at + name.size(), comments)) {
      size_t i = at + name.size();
      if (i < text_.size() && (text_[i] == '"' || text_[i] == '\'')) ++i;
      i = skip_blanks(i);
      if (i >= text_.size() || (text_[i] != '=' && text_[i] != ':') ||
          text_.substr(i).starts_with("==")) {
        continue;
      }
      i = skip_blanks(i + 1);
      if (i >= text_.size()) continue;
      if (text_[i] == '[' || text_[i] == '(' || text_[i] == '{') return literals(i);
      if (!is_word_character(text_[i])) continue;
      const size_t begin = i;
      while (i < text_.size() && is_word_character(text_[i])) ++i;
      const bool is_call = i < text_.size() && (text_[i] == '(' || text_[i] == '.');
      if (follow_variable && !is_call) return value_of(text_.substr(begin, i - begin), false);
    }
    return {};
  }

 private:
  // A whole word outside comments.
  size_t find_word(std::string_view word, size_t from, CommentFinder& comments) const {
    for (size_t at = text_.find(word, from); at != std::string_view::npos;
         at = text_.find(word, at + 1)) {
      const bool begins = at == 0 || !is_word_character(text_[at - 1]);
      const size_t end = at + word.size();
      const bool ends = end >= text_.size() || !is_word_character(text_[end]);
      if (begins && ends && !comments.is_comment(at)) return at;
    }
    return std::string_view::npos;
  }

  size_t skip_blanks(size_t i) const {
    while (i < text_.size() && std::string_view(" \t\r\n").find(text_[i]) != std::string_view::npos)
      ++i;
    return i;
  }

  std::vector<Literal> literals(size_t i) const {
    std::vector<Literal> found;
    auto line = static_cast<uint32_t>(std::ranges::count(text_.substr(0, i), '\n') + 1);
    int depth = 0;
    for (; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\n') ++line;
      if (c == '#') {
        i = std::min(text_.find('\n', i), text_.size()) - 1;
      } else if (c == '[' || c == '(' || c == '{') {
        ++depth;
      } else if (c == ']' || c == ')' || c == '}') {
        if (--depth == 0) return found;
      } else if (c == '"' || c == '\'') {
        const size_t end = std::min(text_.find(c, i + 1), text_.size());
        found.push_back({std::string(text_.substr(i + 1, end - i - 1)), line, depth, false});
        i = end;
        const size_t next = skip_blanks(end + 1);
        found.back().is_key = next < text_.size() && text_[next] == ':';
      }
    }
    return found;
  }

  std::string_view text_;
};

void add_requirements(const std::vector<Literal>& literals, std::string_view group,
                      Declarations& out) {
  for (const Literal& literal : literals) {
    if (literal.is_key) continue;
    auto dependency = python_requirement(literal.text, literal.line, group);
    if (dependency) out.dependencies.push_back(std::move(*dependency));
  }
}

}  // namespace

Declarations read_setup_py(std::string_view text) {
  Declarations out;
  const SetupReader setup(text);
  add_requirements(setup.value_of("install_requires"), "", out);
  add_requirements(setup.value_of("setup_requires"), "build", out);
  std::string group;
  for (const Literal& literal : setup.value_of("extras_require")) {
    if (literal.is_key)
      group = literal.text;
    else
      add_requirements({literal}, group, out);
  }
  for (const Literal& literal : setup.value_of("console_scripts")) {
    const size_t equals = literal.text.find('=');
    if (equals == std::string::npos) continue;
    auto script = console_script(std::string_view(literal.text).substr(0, equals),
                                 std::string_view(literal.text).substr(equals + 1), literal.line);
    if (script) out.entry_points.push_back(std::move(*script));
  }
  return out;
}

}  // namespace fathom
