#include <algorithm>

#include "scan/cpp/references.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

// Walks the braces of a file and knows which namespaces and classes are open.
class Outline {
 public:
  explicit Outline(const TokenList& source) : source_(source) {}

  void run() {
    for (size_t i = 0; i < source_.size(); ++i) {
      const TokenKind kind = source_.tokens[i].kind;
      if (kind == TokenKind::kPunctuator) {
        punctuator(i);
      } else if (kind == TokenKind::kIdentifier) {
        word(i);
      }
    }
  }

  std::vector<Alias> aliases;
  std::vector<ClassBody> classes;

 private:
  struct Open {
    std::string name;        // empty: neither namespace nor class
    size_t class_index = 0;  // from 1; 0: no class
    size_t outer_size = 0;   // of the scope around
  };

  void punctuator(size_t i) {
    const char c = source_.text[source_.tokens[i].begin];
    if (c == '{') {
      if (i != opens_at_) pending_ = {};
      if (pending_.class_index != 0) classes[pending_.class_index - 1].first = i;
      push();
      pending_ = {};
      template_parameters_.clear();
    } else if (c == '}') {
      if (stack_.empty()) return;
      if (stack_.back().class_index != 0) classes[stack_.back().class_index - 1].last = i;
      scope_.resize(stack_.back().outer_size);
      stack_.pop_back();
      template_parameters_.clear();
    } else if (c == ';') {
      template_parameters_.clear();
    }
  }

  void word(size_t i) {
    const std::string_view name = source_.at(i);
    if (name == "template" && source_.is(i + 1, "<")) {
      if (const auto close = closing_angle_near(source_, i + 1)) {
        template_parameters_ = source_.source(i + 2, *close);
      }
    } else if (name == "namespace") {
      open_namespace(i);
    } else if ((name == "struct" || name == "class") && !is_template_parameter(i)) {
      open_class(i);
    } else if (name == "using" && source_.is_name(i + 1) && source_.is(i + 2, "=")) {
      add_alias(i);
    }
  }

  // `template <class T>`, `enum class`
  bool is_template_parameter(size_t i) const {
    return i > 0 && (source_.is(i - 1, "<") || source_.is(i - 1, ",") || source_.is(i - 1, "enum"));
  }

  void open_namespace(size_t i) {
    size_t at = i + 1;
    std::string name;
    while (source_.is_name(at) || source_.is(at, "::")) name += source_.at(at++);
    if (!source_.is(at, "{")) return;
    opens_at_ = at;
    pending_ = {name, 0};
  }

  void open_class(size_t i) {
    std::string name;
    size_t at = i + 1;
    constexpr size_t kLongestHead = 200;
    for (; at < std::min(source_.size(), i + kLongestHead); ++at) {
      if (source_.is(at, "{") || source_.is(at, ":")) break;
      if (source_.is(at, ";") || source_.is(at, "=") || source_.is(at, ")")) return;
      if (source_.is(at, "<") || source_.is(at, "(")) {
        const auto close =
            source_.is(at, "<") ? closing_angle_near(source_, at) : closing_near(source_, at);
        if (!close) return;
        at = *close;
      } else if (source_.is_name(at) && !source_.is(at, "final") && !source_.is(at, "alignas")) {
        name = source_.at(at);
      }
    }
    while (at < std::min(source_.size(), i + kLongestHead) && !source_.is(at, "{")) {
      if (source_.is(at, ";")) return;
      ++at;
    }
    if (!source_.is(at, "{") || name.empty()) return;
    classes.push_back({name, scope_, template_parameters_, at, at, source_.tokens[i].line});
    opens_at_ = at;
    pending_ = {name, classes.size()};
  }

  void add_alias(size_t i) {
    constexpr size_t kLongest = 400;
    size_t end = i + 3;
    while (end < std::min(source_.size(), i + kLongest) && !source_.is(end, ";")) ++end;
    aliases.push_back({std::string(source_.at(i + 1)), scope_, i + 3, end, source_.tokens[i].line});
  }

  void push() {
    constexpr size_t kMaxScope = 1000;  // bytes, as of definitions
    pending_.outer_size = scope_.size();
    if (!pending_.name.empty()) {
      if (!scope_.empty()) scope_ += "::";
      scope_ += pending_.name;
      scope_.resize(std::min(scope_.size(), kMaxScope));
    }
    stack_.push_back(std::move(pending_));
  }

  const TokenList& source_;
  std::vector<Open> stack_;
  std::string scope_;  // of all that is open
  Open pending_;
  size_t opens_at_ = SIZE_MAX;
  std::string template_parameters_;
};

}  // namespace

DeclaredTypes find_declared_types(const TokenList& source) {
  Outline outline(source);
  outline.run();
  return {std::move(outline.aliases), std::move(outline.classes)};
}

}  // namespace fathom::cpp
