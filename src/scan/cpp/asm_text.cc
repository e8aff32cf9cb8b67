#include "scan/cpp/asm_text.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace fathom::cpp {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The text of an asm statement with the line of each byte.
struct AsmText {
  std::string text;
  std::vector<uint32_t> lines;
  void add(char c, uint32_t line) {
    text += c;
    lines.push_back(line);
  }
};

void add_literal(AsmText& out, std::string_view literal, uint32_t line) {
  const size_t quote = literal.find('"');
  if (quote == std::string_view::npos) return;
  const bool raw = quote > 0 && literal[quote - 1] == 'R';
  std::string_view body = literal.substr(quote + 1);
  if (raw) {
    const size_t open = std::min(body.find('('), body.size() - 1);
    const size_t close = std::min(body.rfind(')'), body.size());
    body = body.substr(open + 1, close > open ? close - open - 1 : 0);
  } else if (body.ends_with('"')) {
    body.remove_suffix(1);
  }
  for (size_t i = 0; i < body.size(); ++i) {
    char c = body[i];
    if (!raw && c == '\\' && i + 1 < body.size()) {
      c = body[++i];
      if (c == 'n' || c == 'r') c = '\n';
      if (c == 't') c = ' ';
    }
    out.add(c, line);
    line += body[i] == '\n';
  }
}

// A comment inside the assembler text says nothing.
void blank_comments(std::string& text) {
  for (size_t at = text.find("//"); at != std::string::npos; at = text.find("//", at)) {
    while (at < text.size() && text[at] != '\n') text[at++] = ' ';
  }
}

// AMD's assembler ends an instruction with its line, PTX with a semicolon; a line of PTX that goes
// on begins with an operand, which no mnemonic looks like.
bool starts_instruction(std::string_view rest) {
  const size_t begin = rest.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || !is_letter(rest[begin])) return false;
  const std::string_view word = rest.substr(begin, rest.find_first_of(" \t\r\n,;", begin) - begin);
  return word.find_first_of("._") != std::string_view::npos;
}

size_t skip_prefix(const std::string& text, size_t at, size_t end) {
  while (at < end) {
    if (is_space(text[at]) || text[at] == '{' || text[at] == '}') {
      ++at;
    } else if (text[at] == '@') {  // a predicate
      while (at < end && !is_space(text[at])) ++at;
    } else {
      size_t word = at;
      while (word < end && !is_space(text[word]) && text[word] != ':') ++word;
      const bool label = word < end && text[word] == ':' && word + 1 < text.size() &&
                         text[word + 1] != ':' && text.find('.', at) > word;
      if (!label) break;
      at = word + 1;
    }
  }
  return at;
}

void add_instruction(const AsmText& source, size_t begin, size_t end,
                     std::vector<AsmInstruction>& out) {
  begin = skip_prefix(source.text, begin, end);
  if (begin >= end) return;
  AsmInstruction instruction;
  instruction.line = source.lines[begin];
  size_t at = begin;
  while (at < end && !is_space(source.text[at])) instruction.mnemonic += source.text[at++];
  for (; at < end; ++at) {
    const char c = is_space(source.text[at]) ? ' ' : source.text[at];
    if (c == ' ' && (instruction.operands.empty() || instruction.operands.back() == ' ')) continue;
    instruction.operands += c;
  }
  while (instruction.operands.ends_with(' ')) instruction.operands.pop_back();
  out.push_back(std::move(instruction));
}

std::vector<AsmInstruction> cut(AsmText& source) {
  blank_comments(source.text);
  std::vector<AsmInstruction> out;
  size_t begin = 0;
  for (size_t i = 0; i <= source.text.size(); ++i) {
    const bool ends =
        i == source.text.size() || source.text[i] == ';' ||
        (source.text[i] == '\n' && starts_instruction(std::string_view(source.text).substr(i)));
    if (!ends) continue;
    add_instruction(source, begin, i, out);
    begin = i + 1;
  }
  return out;
}

uint32_t number_at(std::string_view text) {
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The nth operand, from 0, brackets and braces kept together.
std::string_view operand(std::string_view operands, size_t nth) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= operands.size(); ++i) {
    const char c = i < operands.size() ? operands[i] : ',';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && i < operands.size())) continue;
    if (nth-- == 0) {
      std::string_view found = operands.substr(begin, i - begin);
      while (found.starts_with(' ')) found.remove_prefix(1);
      return found;
    }
    begin = i + 1;
  }
  return {};
}

}  // namespace

bool opens_asm(const TokenList& source, size_t at) {
  const std::string_view word = source.at(at);
  return word == "asm" || word == "__asm__" || word == "__asm";
}

AsmStatement read_asm(const TokenList& source, size_t at) {
  AsmStatement statement;
  size_t open = at + 1;
  while (source.is_name(open)) ++open;  // volatile, goto
  statement.end = open;
  if (!source.is(open, "(")) return statement;
  const size_t close = source.closing(open);
  statement.end = std::min(close + 1, source.size());
  AsmText text;
  size_t i = open + 1;
  for (; i < close && !source.is(i, ":") && !source.is(i, "::"); ++i) {
    if (source.tokens[i].kind == TokenKind::kString) {
      add_literal(text, source.at(i), source.tokens[i].line);
    } else if (source.is_name(i)) {
      text.add('?', source.tokens[i].line);
    }
  }
  statement.instructions = cut(text);
  for (; i + 1 < close; ++i) {
    if (source.tokens[i].kind != TokenKind::kString || !source.is(i + 1, "(")) continue;
    const size_t end = source.closing(i + 1);
    statement.values.push_back(source.source(i + 2, end));
    i = end;
  }
  return statement;
}

uint32_t bytes_moved(const AsmInstruction& instruction, const std::vector<std::string>& values) {
  const std::string_view mnemonic = instruction.mnemonic;
  if (mnemonic.starts_with("cp.async")) {
    std::string_view size = operand(instruction.operands, 2);
    if (size.starts_with('%')) {
      const uint32_t value = number_at(size.substr(1));
      size = value < values.size() ? std::string_view(values[value]) : std::string_view();
    }
    return number_at(size);
  }
  uint32_t elements = 1, bits = 0;
  for (size_t i = mnemonic.find('.'); i < mnemonic.size(); i = mnemonic.find('.', i + 1)) {
    const std::string_view part = mnemonic.substr(i + 1);
    if (part.size() < 2 || !is_digit(part[1])) continue;
    if (part[0] == 'v') elements = number_at(part.substr(1));
    if (part[0] == 'b' || part[0] == 'u' || part[0] == 's' || part[0] == 'f') {
      bits = number_at(part.substr(1));
    }
  }
  return elements * bits / 8;
}

std::string matrix_shape(std::string_view name) {
  const auto number_end = [&](size_t at) {
    while (at < name.size() && is_digit(name[at])) ++at;
    return at;
  };
  for (size_t i = 0; i < name.size(); ++i) {
    const bool spelled = name[i] == 'm' && i + 1 < name.size() && is_digit(name[i + 1]);
    if (!spelled && (!is_digit(name[i]) || (i > 0 && is_digit(name[i - 1])))) continue;
    const size_t m = spelled ? i + 1 : i;
    const size_t n = number_end(m) + 1;
    if (n >= name.size() || name[n - 1] != (spelled ? 'n' : 'x') || !is_digit(name[n])) continue;
    const size_t k = number_end(n) + 1;
    if (k >= name.size() || name[k - 1] != (spelled ? 'k' : 'x') || !is_digit(name[k])) continue;
    return "m" + std::string(name.substr(m, n - 1 - m)) + "n" +
           std::string(name.substr(n, k - 1 - n)) + "k" +
           std::string(name.substr(k, number_end(k) - k));
  }
  return {};
}

}  // namespace fathom::cpp
