#include <algorithm>
#include <array>

#include "base/text_parts.h"
#include "scan/cpp/directives.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {
namespace {

enum CharClass : uint8_t { kOther, kSpace, kNameStart, kDigit };

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  // A zero byte too: a file with a hole has millions of them.
  for (const char c : {' ', '\t', '\r', '\v', '\f', '\0'})
    classes[static_cast<uint8_t>(c)] = kSpace;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kNameStart;
  classes['_'] = classes['$'] = kNameStart;
  for (int c = 0x80; c < 0x100; ++c) classes[c] = kNameStart;
  return classes;
}();

// What the standard asks compilers to tell apart. Of a longer name the rest is passed over: it
// would be told again with every launch in the function of that name.
constexpr size_t kLongestName = 1024;

uint8_t class_of(char c) { return kClasses[static_cast<uint8_t>(c)]; }
bool starts_name(char c) { return class_of(c) == kNameStart; }
bool is_digit(char c) { return class_of(c) == kDigit; }
bool continues_name(char c) { return class_of(c) >= kNameStart; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  TokenList run() {
    // Files beyond 4 GB are not source code; positions are 32 bits.
    text_ = text_.substr(0, UINT32_MAX);
    list_.text = text_;
    list_.tokens.reserve(text_.size() / 5);
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a byte order mark is no letter
    while (at_ < text_.size()) step();
    return std::move(list_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void step() {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
      line_has_token_ = false;
    } else if (class_of(c) == kSpace) {
      ++at_;
    } else if (c == '\\' && continued_line() != 0) {
      at_ += continued_line();
      ++line_;
    } else if (c == '/' && peek(1) == '/') {
      skip_line_comment();
    } else if (c == '/' && peek(1) == '*') {
      skip_block_comment();
    } else if (c == '#' && !line_has_token_) {
      directive();
    } else {
      line_has_token_ = true;
      token(c);
    }
  }

  void token(char c) {
    const size_t begin = at_;
    const uint32_t line = line_;
    TokenKind kind = TokenKind::kPunctuator;
    if (starts_name(c)) {
      while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
      kind = TokenKind::kIdentifier;
      if (peek() == '"' && is_string_prefix(text_.substr(begin, at_ - begin))) {
        text_[at_ - 1] == 'R' ? raw_string() : quoted('"');
        kind = TokenKind::kString;
      }
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
      kind = TokenKind::kNumber;
    } else if (c == '"') {
      quoted('"');
      kind = TokenKind::kString;
    } else if (c == '\'') {
      quoted('\'');
      kind = TokenKind::kCharacter;
    } else {
      at_ += punctuator_size();
    }
    push(kind, begin, line);
  }

  void push(TokenKind kind, size_t begin, uint32_t line) {
    size_t end = at_;
    if (kind == TokenKind::kIdentifier && end - begin > kLongestName) {
      end = begin + kLongestName;
      while ((static_cast<uint8_t>(text_[end]) & 0xC0) == 0x80) --end;
    }
    list_.tokens.push_back({kind, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), line});
  }

  // The bytes of a backslash and the line break after it; 0: none.
  size_t continued_line() const {
    if (peek(1) == '\n') return 2;
    return peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
  }

  void skip_line_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (text_[at_] == '\\' && continued_line() != 0) {
        at_ += continued_line();
        ++line_;
      } else {
        ++at_;
      }
    }
  }

  void skip_block_comment() {
    const size_t end = text_.find("*/", at_ + 2);
    const size_t after = end == std::string_view::npos ? text_.size() : end + 2;
    line_ += static_cast<uint32_t>(std::count(text_.begin() + at_, text_.begin() + after, '\n'));
    at_ = after;
  }

  void directive() {
    const size_t begin = at_;
    const uint32_t line = line_;
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (text_[at_] == '\\' && continued_line() != 0) {
        at_ += continued_line();
        ++line_;
      } else if (text_[at_] == '/' && peek(1) == '*') {
        skip_block_comment();
      } else if (text_[at_] == '/' && peek(1) == '/') {
        break;
      } else if (text_[at_] == '"') {
        quoted('"');
      } else {
        ++at_;
      }
    }
    push(TokenKind::kDirective, begin, line);
  }

  static bool is_string_prefix(std::string_view name) {
    return is_one_of(name, {"R", "L", "u", "U", "u8", "LR", "uR", "UR", "u8R"});
  }

  // at_ is on the opening quote. A string that its line does not close ends with the line.
  void quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\') {
        const size_t continued = continued_line();
        line_ += continued != 0;
        at_ += continued != 0 ? continued : 2;
      } else {
        ++at_;
      }
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    at_ = std::min(at_, text_.size());
  }

  void raw_string() {
    const size_t open = text_.find('(', at_);
    // The standard allows 16 characters between the quote and the bracket.
    if (open == std::string_view::npos || open - at_ > 17) return quoted('"');
    const std::string closing = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const size_t end = text_.find(closing, open);
    const size_t after = end == std::string_view::npos ? text_.size() : end + closing.size();
    line_ += static_cast<uint32_t>(std::count(text_.begin() + at_, text_.begin() + after, '\n'));
    at_ = after;
  }

  void number() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const char before = at_ > 0 ? text_[at_ - 1] : '\0';
      const bool exponent_sign = (c == '+' || c == '-') &&
                                 (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && continues_name(peek(1));
      if (!continues_name(c) && c != '.' && !exponent_sign && !separator) break;
      ++at_;
    }
  }

  size_t punctuator_size() const {
    const char c = peek(), next = peek(1);
    switch (c) {
      case '<':
        if (next == '<' && peek(2) == '<') return 3;
        // <:: is < and :: unless another : or > follows.
        if (next == ':') return peek(2) == ':' && peek(3) != ':' && peek(3) != '>' ? 1 : 2;
        return next == '=' || next == '%' ? 2 : 1;
      case '%':
        if (next == ':') return peek(2) == '%' && peek(3) == ':' ? 4 : 2;
        return next == '>' ? 2 : 1;
      case '.':
        return next == '.' && peek(2) == '.' ? 3 : 1;
      case ':':
        return next == ':' || next == '>' ? 2 : 1;
      case '&':
      case '|':
      case '#':
        return next == c ? 2 : 1;
      case '-':
        return next == '>' || next == '=' ? 2 : 1;
      case '=':
      case '!':
      case '+':
        return next == '=' ? 2 : 1;
      default:
        return 1;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  bool line_has_token_ = false;
  TokenList list_;
};

// What #if 0 leaves out is a comment by another name; the directives themselves stay.
void drop_dead_branches(TokenList& list) {
  std::vector<bool> dead;  // of each open #if: the branch being read is never compiled
  size_t dead_count = 0, kept = 0;
  for (const Token& token : list.tokens) {
    const bool was_dead = dead_count > 0;
    if (token.kind == TokenKind::kDirective) {
      const Directive directive =
          read_directive(list.text.substr(token.begin, token.end - token.begin));
      if (directive.kind == DirectiveKind::kIf) {
        dead.push_back(is_never(directive));
        dead_count += dead.back();
      } else if (directive.kind == DirectiveKind::kElse && !dead.empty()) {
        dead_count -= dead.back();
        dead.back() = false;
      } else if (directive.kind == DirectiveKind::kEndif && !dead.empty()) {
        dead_count -= dead.back();
        dead.pop_back();
      }
    }
    if (!was_dead || dead_count == 0) list.tokens[kept++] = token;
  }
  list.tokens.resize(kept);
}

}  // namespace

TokenList lex(std::string_view text) {
  TokenList list = Lexer(text).run();
  drop_dead_branches(list);
  return list;
}

TokenList lex_jinja(std::string_view text) {
  TokenList list = lex(blank_jinja(text));
  list.text = text.substr(0, list.text.size());
  return list;
}

namespace {

// The bytes of a field that a format string or an f-string fills in; 0: none begins there.
size_t field_at(std::string_view text, size_t at) {
  constexpr size_t kLongest = 80;
  const std::string_view rest = text.substr(at, kLongest);
  if (rest.starts_with("%s") || rest.starts_with("%d")) return 2;
  const bool is_named = rest.starts_with("%(");
  if (!is_named && !rest.starts_with('{')) return 0;
  const size_t end = rest.find_first_of(is_named ? ")\n" : "}\n");
  if (end == std::string_view::npos || rest[end] == '\n') return 0;
  return is_named ? (rest.substr(end + 1, 1) == "s" ? end + 2 : 0) : end + 1;
}

// Names of functions that hold fields become names, every byte in its place.
void blank_filled_names(std::string& text) {
  constexpr std::string_view kVoid = "void", kBounds = "__launch_bounds__(";
  for (size_t at = text.find(kVoid); at != std::string::npos; at = text.find(kVoid, at)) {
    at += kVoid.size();
    size_t begin = text.find_first_not_of(" \t\n", at);
    if (begin == std::string::npos) return;
    if (std::string_view(text).substr(begin).starts_with(kBounds)) {
      begin = text.find_first_of(")\n", begin);
      if (begin == std::string::npos) return;
      begin = text.find_first_not_of(" \t\n", begin + 1);
      if (begin == std::string::npos) return;
    }
    size_t end = begin;
    bool has_field = false;
    while (end < text.size()) {
      const size_t field = field_at(text, end);
      if (field == 0 && !is_word_character(text[end])) break;
      has_field = has_field || field > 0;
      end += std::max<size_t>(field, 1);
    }
    if (has_field && end < text.size() && text[end] == '(')
      for (size_t i = begin; i < end; ++i)
        if (!is_word_character(text[i])) text[i] = '_';
  }
}

}  // namespace

TokenList lex_filled(std::string_view text) {
  std::string blank = blank_jinja(text);
  blank_filled_names(blank);
  TokenList list = lex(blank);
  list.text = text.substr(0, list.text.size());
  return list;
}

size_t TokenList::closing(size_t open) const {
  size_t depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::kPunctuator) continue;
    const char c = text[tokens[i].begin];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') {
      if (--depth == 0) return i;
    }
  }
  return tokens.size();
}

size_t TokenList::closing_angle(size_t open) const {
  size_t depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::kPunctuator) continue;
    const std::string_view token = at(i);
    if (token == "(" || token == "[" || token == "{") {
      i = closing(i);
    } else if (token == "<") {
      ++depth;
    } else if (token == ">" && --depth == 0) {
      return i;
    } else if (token == ";" || token == ")" || token == "}" || token == "]") {
      break;  // it was a comparison
    }
  }
  return tokens.size();
}

std::string TokenList::source(size_t first, size_t last) const {
  std::string out;
  size_t inside = 0, skipped_at = SIZE_MAX;  // #ifs begun here, and the one being skipped
  for (size_t i = first; i < std::min(last, tokens.size()); ++i) {
    if (tokens[i].kind == TokenKind::kDirective) {
      const DirectiveKind kind = read_directive(at(i)).kind;
      if (kind == DirectiveKind::kElse && skipped_at == SIZE_MAX) skipped_at = inside;
      if (kind == DirectiveKind::kEndif && skipped_at == inside) skipped_at = SIZE_MAX;
      if (kind == DirectiveKind::kIf) ++inside;
      if (kind == DirectiveKind::kEndif && inside > 0) --inside;
      continue;
    }
    if (skipped_at != SIZE_MAX) continue;
    if (i > first && tokens[i].begin > tokens[i - 1].end && !out.empty()) out += ' ';
    out += at(i);
  }
  return out;
}

namespace {

// The next place of a sign, for questions that go forward through a text: each byte is looked at
// once, however many ask and whether or not there is one.
class NextPlace {
 public:
  NextPlace(std::string_view text, std::string_view sign)
      : text_(text), sign_(sign), at_(text.find(sign)) {}
  size_t from(size_t begin) {
    if (at_ < begin) at_ = text_.find(sign_, begin);
    return at_;
  }

 private:
  std::string_view text_, sign_;
  size_t at_;
};

}  // namespace

std::string blank_jinja(std::string_view text) {
  std::string out(text);
  NextPlace value_end(text, "}}"), tag_end(text, "%}"), comment_end(text, "#}"),
      line_end(text, "\n");
  for (size_t at = 0; at + 1 < out.size(); ++at) {
    if (out[at] != '{') continue;
    const char second = out[at + 1];
    if (second != '{' && second != '%' && second != '#') continue;
    NextPlace& closing = second == '{' ? value_end : second == '%' ? tag_end : comment_end;
    const size_t end = closing.from(at + 2);
    if (end == std::string::npos) continue;
    // `{{` also opens nested initialisers in C++: a tag stays on its line.
    if (second == '{' && line_end.from(at) < end) continue;
    for (size_t i = at; i < end + 2; ++i) {
      if (out[i] != '\n') out[i] = second == '{' ? '_' : ' ';
    }
    at = end + 1;
  }
  return out;
}

}  // namespace fathom::cpp
