#include "scan/python/string_content.h"

#include <algorithm>

#include "scan/python/python_file.h"

namespace fathom::python {
namespace {

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x110000) {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

class Decoder {
 public:
  Decoder(StringContent& out, size_t at_most) : out_(out), at_most_(at_most) {}

  bool full() const { return out_.text.size() >= at_most_; }

  void placeholder(std::string_view expression, uint32_t line) {
    out_.composed = true;
    line_ = line;
    put('{');
    for (const char c : expression) put(c);
    put('}');
  }

  // The text between the quotes, from the given line on. Doubled braces are one in an f-string.
  void decode(std::string_view body, uint32_t line, bool raw, bool format) {
    line_ = line;
    for (size_t i = 0; i < body.size() && !full();) {
      const char c = body[i];
      if (c == '\\' && !raw) {
        i += escape(body.substr(i));
      } else if (c == '\r') {
        i += body.substr(i).starts_with("\r\n") ? 2 : 1;
        put('\n');
        ++line_;
      } else {
        put(c);
        line_ += c == '\n';
        i += format && (c == '{' || c == '}') && i + 1 < body.size() && body[i + 1] == c ? 2 : 1;
      }
    }
  }

 private:
  void put(char c) {
    if (at_line_begin_) out_.lines.push_back(line_);
    at_line_begin_ = c == '\n';
    out_.text += c;
  }

  // Returns the bytes of the escape that `rest` begins with.
  size_t escape(std::string_view rest) {
    if (rest.size() < 2) {
      put('\\');
      return 1;
    }
    static constexpr std::string_view kLetters = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
    const char c = rest[1];
    if (const size_t at = kLetters.find(c); at != std::string_view::npos) {
      put(kMeanings[at]);
      return 2;
    }
    if (c == '\n' || c == '\r') {
      ++line_;
      return rest.substr(1).starts_with("\r\n") ? 3 : 2;
    }
    if (c == 'x') return number(rest, 2, 2, 16);
    if (c == 'u') return number(rest, 2, 4, 16);
    if (c == 'U') return number(rest, 2, 8, 16);
    if (c >= '0' && c <= '7') return number(rest, 1, 3, 8);
    put('\\');  // an unknown escape stands for itself
    put(c);
    return 2;
  }

  size_t number(std::string_view rest, size_t begin, size_t most, int base) {
    uint32_t code = 0;
    size_t end = begin;
    while (end < rest.size() && end < begin + most && digit_value(rest[end]) < base) {
      code = code * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit_value(rest[end++]));
    }
    std::string bytes;
    append_utf8(bytes, code);
    for (const char byte : bytes) put(byte);
    return end;
  }

  StringContent& out_;
  const size_t at_most_;
  uint32_t line_ = 1;
  bool at_line_begin_ = true;
};

struct Quotes {
  size_t prefix, quotes;
  bool raw;
};

Quotes quotes_of(std::string_view token) {
  const size_t prefix = std::min(token.find_first_of("'\""), token.size());
  const std::string_view rest = token.substr(prefix);
  const bool triple = rest.starts_with("\"\"\"") || rest.starts_with("'''");
  const bool raw = token.substr(0, prefix).find_first_of("rR") != std::string_view::npos;
  return {prefix, triple ? 3u : 1u, raw};
}

}  // namespace

StringContent content_of(const Tree& tree, NodeId string, size_t at_most) {
  StringContent out;
  Decoder decoder(out, at_most);
  NodeId field = tree[string].child;
  std::vector<bool> raw_fstrings;
  for (uint32_t i = tree[string].first; i <= tree[string].last && !decoder.full(); ++i) {
    const Token& token = tree.tokens.tokens[i];
    const std::string_view text = tree.token(i);
    if (token.kind == TokenKind::kString) {
      const Quotes quotes = quotes_of(text);
      const size_t begin = quotes.prefix + quotes.quotes;
      const size_t size = text.size() - std::min(text.size(), begin + quotes.quotes);
      decoder.decode(text.substr(begin, size), token.line, quotes.raw, false);
    } else if (token.kind == TokenKind::kFStringBegin) {
      raw_fstrings.push_back(quotes_of(text).raw);
    } else if (token.kind == TokenKind::kFStringEnd && !raw_fstrings.empty()) {
      raw_fstrings.pop_back();
    } else if (token.kind == TokenKind::kFStringText) {
      const bool raw = !raw_fstrings.empty() && raw_fstrings.back();
      decoder.decode(text, token.line, raw, true);
    } else if (token.kind == TokenKind::kFieldOpen && field != 0) {
      decoder.placeholder(tree.source(tree.child(field), at_most), token.line);
      i = tree[field].last;
      field = tree[field].next;
    }
  }
  return out;
}

std::optional<std::string> string_content(std::string_view expression) {
  const Tree tree = parse(expression);
  const NodeId statement = tree.child(tree.root);
  if (tree.kind(statement) != NodeKind::kExpression || tree[statement].next != 0) return {};
  const NodeId value = tree.child(statement);
  if (tree.kind(value) != NodeKind::kString) return {};
  return content_of(tree, value).text;
}

}  // namespace fathom::python
