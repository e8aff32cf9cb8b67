#include <algorithm>
#include <array>
#include <cstring>

#include "scan/python/keywords.h"
#include "scan/python/tokens.h"

namespace fathom::python {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

// What a closing bracket, a quote or a line break means depends on what is open.
enum class Open : uint8_t { kParen, kBracket, kBrace, kField, kText, kFormat };

struct FString {
  char quote;
  bool triple, raw;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text.substr(0, UINT32_MAX - 1)) {}

  TokenList run() {
    list_.text = text_;
    list_.tokens.reserve(text_.size() / 4 + 8);
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    indentation();
    while (at_ < text_.size()) {
      if (!open_.empty() && (open_.back() == Open::kText || open_.back() == Open::kFormat)) {
        string_text();
      } else {
        code();
      }
    }
    if (!open_.empty()) list_.damaged = true;
    end_line();
    while (indents_.size() > 1) dedent();
    push(TokenKind::kEnd, at_, line_);
    return std::move(list_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void push(TokenKind kind, size_t begin, uint32_t line) {
    list_.tokens.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(at_), line, kind});
  }

  void bad(size_t begin, uint32_t line) {
    list_.damaged = true;
    push(TokenKind::kBad, begin, line);
  }

  // Bytes of the line break at `at`; 0: none there.
  size_t line_break(size_t at) const {
    if (at >= text_.size()) return 0;
    if (text_[at] == '\n') return 1;
    if (text_[at] != '\r') return 0;
    return at + 1 < text_.size() && text_[at + 1] == '\n' ? 2 : 1;
  }

  void code() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\f' || c == '\0') {
      ++at_;
    } else if (const size_t size = line_break(at_); size != 0) {
      next_line(size);
    } else if (c == '#') {
      comment();
    } else if (c == '\\' && line_break(at_ + 1) != 0) {
      at_ += 1 + line_break(at_ + 1);
      ++line_;
    } else if (starts_name(c)) {
      name();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      string(at_, false, false);
    } else {
      punctuation(c);
    }
  }

  void next_line(size_t size) {
    const size_t begin = at_;
    if (open_.empty()) {
      end_line(begin);
      at_ += size;
      ++line_;
      indentation();
    } else {
      at_ += size;
      ++line_;
    }
    line_begin_ = at_;
  }

  void end_line() { end_line(at_); }
  void end_line(size_t begin) {
    const bool anything = !list_.tokens.empty() &&
                          list_.tokens.back().kind != TokenKind::kNewline &&
                          list_.tokens.back().kind != TokenKind::kIndent &&
                          list_.tokens.back().kind != TokenKind::kDedent;
    if (anything) push(TokenKind::kNewline, begin, line_);
  }

  void dedent() {
    indents_.pop_back();
    push(TokenKind::kDedent, at_, line_);
  }

  // At the beginning of a line outside brackets: passes over lines that hold nothing, then compares
  // the first one that does with the lines before.
  void indentation() {
    uint32_t column = 0;
    line_begin_ = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ') {
        ++column;
      } else if (c == '\t') {
        column = column / 8 * 8 + 8;
      } else if (c == '\f') {
        column = 0;
      } else if (const size_t size = line_break(at_); size != 0) {
        at_ += size;
        ++line_;
        column = 0;
        line_begin_ = at_;
        continue;
      } else if (c == '#') {
        comment();
        continue;
      } else if (c == '\\' && line_break(at_ + 1) != 0) {
        at_ += 1 + line_break(at_ + 1);
        ++line_;
        continue;
      } else {
        break;
      }
      ++at_;
    }
    if (at_ < text_.size()) indent_to(column);
  }

  void indent_to(uint32_t column) {
    if (column > indents_.back()) {
      indents_.push_back(column);
      push(TokenKind::kIndent, at_, line_);
      return;
    }
    while (column < indents_.back()) dedent();
    if (column != indents_.back()) {
      // Python refuses this. The line is taken as a part of the block that it is nearest to.
      list_.damaged = true;
    }
  }

  void comment() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    const std::string_view before = text_.substr(line_begin_, begin - line_begin_);
    const bool alone = before.find_first_not_of(" \t\f") == std::string_view::npos;
    list_.comments.push_back(
        {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_), line_, alone});
  }

  void name() {
    const size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if ((peek() == '"' || peek() == '\'') && word.size() <= 2 && string_prefix(word)) return;
    const TokenKind kind = keyword(word);
    if (!open_.empty() && opens_statement(kind)) leave_brackets(begin);
    push(kind, begin, line_);
    // Of a longer name the rest is passed over: every method of a class is told with its name.
    constexpr size_t kLongestName = 1024;
    if (word.size() > kLongestName)
      list_.tokens.back().end =
          static_cast<uint32_t>(begin + utf8_begin(word, kLongestName).size());
  }

  bool string_prefix(std::string_view word) {
    bool raw = false, format = false;
    for (const char c : word) {
      const char lower = static_cast<char>(c | 0x20);
      raw |= lower == 'r';
      format |= lower == 'f' || lower == 't';
      if (lower != 'r' && lower != 'f' && lower != 't' && lower != 'b' && lower != 'u')
        return false;
    }
    string(at_ - word.size(), raw, format);
    return true;
  }

  // A line in brackets that begins like a statement: a bracket above it was never closed. What
  // follows is read as if it had been, so that one slip does not cost the rest of the file.
  void leave_brackets(size_t begin) {
    const std::string_view before = text_.substr(line_begin_, begin - line_begin_);
    if (before.find_first_not_of(" \t\f") != std::string_view::npos) return;
    list_.damaged = true;
    open_.clear();
    fstrings_.clear();
    const size_t end = at_;
    at_ = begin;
    end_line();
    uint32_t column = 0;
    for (const char c : before) column = c == '\t' ? column / 8 * 8 + 8 : c == ' ' ? column + 1 : 0;
    indent_to(column);
    at_ = end;
  }

  void number() {
    const size_t begin = at_;
    const auto digits = [&] {
      while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) ++at_;
    };
    const char second = static_cast<char>(peek(1) | 0x20);
    if (peek() == '0' && (second == 'x' || second == 'o' || second == 'b')) {
      at_ += 2;
      while (std::isxdigit(static_cast<unsigned char>(peek())) != 0 || peek() == '_') ++at_;
    } else {
      digits();
      if (peek() == '.') {
        ++at_;
        digits();
      }
      const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if ((peek() | 0x20) == 'e' && is_digit(peek(1 + sign))) {
        at_ += 1 + sign;
        digits();
      }
      if ((peek() | 0x20) == 'j') ++at_;
    }
    push(TokenKind::kNumber, begin, line_);
  }

  // at_ is on the quote, the prefix begins at `begin`.
  void string(size_t begin, bool raw, bool format) {
    const char quote = text_[at_];
    const bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    if (format) {
      push(TokenKind::kFStringBegin, begin, line_);
      open_.push_back(Open::kText);
      fstrings_.push_back({quote, triple, raw});
      return;
    }
    const uint32_t line = line_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        ++at_;
        const size_t size = line_break(at_);
        line_ += size != 0;
        at_ = std::min(at_ + std::max<size_t>(size, 1), text_.size());
      } else if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        at_ += triple ? 3 : 1;
        return push(TokenKind::kString, begin, line);
      } else if (const size_t size = line_break(at_); size != 0) {
        if (!triple) break;  // it ends with its line
        at_ += size;
        ++line_;
      } else {
        ++at_;
      }
    }
    bad(begin, line);
  }

  // Inside an f-string, up to its next field or its end.
  void string_text() {
    const FString in = fstrings_.back();
    const bool format = open_.back() == Open::kFormat;
    const size_t begin = at_;
    const uint32_t line = line_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == in.quote && (!in.triple || (peek(1) == c && peek(2) == c))) {
        push_text(begin, line);
        return end_string(in);
      }
      if (c == '{' || c == '}') {
        if (!format && peek(1) == c) {
          at_ += 2;
          continue;
        }
        push_text(begin, line);
        return field_edge(c);
      }
      if (c == '\\') {
        escape(in);
      } else if (const size_t size = line_break(at_); size != 0) {
        if (!in.triple) break;
        at_ += size;
        ++line_;
      } else {
        ++at_;
      }
    }
    bad(begin, line);
    leave_string();
  }

  void push_text(size_t begin, uint32_t line) {
    if (at_ > begin) push(TokenKind::kFStringText, begin, line);
  }

  // A backslash does not protect braces; in `\N{DASH}` they belong to the escape.
  void escape(const FString& in) {
    ++at_;
    if (!in.raw && peek() == 'N' && peek(1) == '{') {
      const size_t end = text_.find_first_of("}\n", at_);
      at_ = end != std::string_view::npos && text_[end] == '}' ? end + 1 : at_ + 1;
    } else if (const size_t size = line_break(at_); size != 0) {
      at_ += size;
      ++line_;
    } else if (at_ < text_.size() && peek() != '{' && peek() != '}') {
      ++at_;
    }
  }

  void end_string(const FString& in) {
    const size_t begin = at_;
    at_ += in.triple ? 3 : 1;
    if (open_.back() == Open::kFormat) list_.damaged = true;  // a field is still open
    push(TokenKind::kFStringEnd, begin, line_);
    leave_string();
  }

  void leave_string() {
    while (open_.back() != Open::kText) open_.pop_back();
    open_.pop_back();
    fstrings_.pop_back();
  }

  void field_edge(char c) {
    const size_t begin = at_++;
    if (c == '{') {
      push(TokenKind::kFieldOpen, begin, line_);
      open_.push_back(Open::kField);
    } else if (open_.back() == Open::kFormat) {
      push(TokenKind::kFieldClose, begin, line_);
      open_.resize(open_.size() - 2);  // the format and its field
    } else {
      bad(begin, line_);  // a } alone
    }
  }

  void punctuation(char c) {
    const size_t begin = at_;
    const auto [kind, size] = punctuator(text_.substr(at_, 3));
    at_ += size;
    const bool in_field = !open_.empty() && open_.back() == Open::kField;
    if (in_field && c == ':') {  // also in `:=`: a field has no bare walrus
      at_ = begin + 1;
      push(TokenKind::kColon, begin, line_);
      open_.push_back(Open::kFormat);
      return;
    }
    if (in_field && c == '}') {
      push(TokenKind::kFieldClose, begin, line_);
      open_.pop_back();
      return;
    }
    if (kind == TokenKind::kBad) return bad(begin, line_);
    if (c == '(') open_.push_back(Open::kParen);
    if (c == '[') open_.push_back(Open::kBracket);
    if (c == '{') open_.push_back(Open::kBrace);
    if (c == ')') close(Open::kParen);
    if (c == ']') close(Open::kBracket);
    if (c == '}') close(Open::kBrace);
    push(kind, begin, line_);
  }

  void close(Open wanted) {
    if (open_.empty() || open_.back() != wanted) list_.damaged = true;
    if (!open_.empty() && open_.back() != Open::kField) open_.pop_back();
  }

  std::string_view text_;
  size_t at_ = 0, line_begin_ = 0;
  uint32_t line_ = 1;
  std::vector<uint32_t> indents_ = {0};
  std::vector<Open> open_;
  std::vector<FString> fstrings_;  // one for each kText in open_
  TokenList list_;
};

}  // namespace

TokenList lex(std::string_view text) { return Lexer(text).run(); }

}  // namespace fathom::python
