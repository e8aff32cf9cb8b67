#include <algorithm>
#include <optional>

#include "base/text_parts.h"
#include "scan/cpp/brackets.h"
#include "scan/cpp/found_kernels.h"
#include "scan/cpp/plain_spelling.h"

namespace fathom::cpp {
namespace {

// What literals side by side say, and which line of the file each of its lines is on.
struct LiteralText {
  std::string text;
  std::vector<uint32_t> lines;

  void add(char c, uint32_t line) {
    if (lines.empty() || text.ends_with('\n')) lines.push_back(line);
    text += c;
  }
};

char escaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    default:
      return c;
  }
}

// R"delimiter(…)delimiter"
void add_raw(std::string_view literal, uint32_t line, LiteralText& out) {
  const size_t open = literal.find('(');
  const size_t close = literal.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close <= open) return;
  line += static_cast<uint32_t>(std::count(literal.begin(), literal.begin() + open, '\n'));
  for (const char c : literal.substr(open + 1, close - open - 1)) {
    out.add(c, line);
    line += c == '\n';
  }
}

void add_plain(std::string_view literal, uint32_t line, LiteralText& out) {
  const size_t open = literal.find('"');
  if (open == std::string_view::npos || literal.size() < open + 2) return;
  const std::string_view inside = literal.substr(open + 1, literal.size() - open - 2);
  for (size_t i = 0; i < inside.size(); ++i) {
    const bool escape = inside[i] == '\\' && i + 1 < inside.size();
    if (escape && inside[i + 1] == '\n') {
      ++i;
      ++line;
      continue;
    }
    out.add(escape ? escaped(inside[++i]) : inside[i], line);
  }
}

bool is_raw(std::string_view literal) {
  const size_t quote = literal.find('"');
  return quote != std::string_view::npos && quote > 0 && literal[quote - 1] == 'R';
}

// Told by bytes before anything is decoded.
bool may_hold_kernels(std::string_view text) {
  return holds_any(text,
                   {"__global__", "__kernel", "kernel", "@compute", "numthreads", "local_size_x"});
}

// STRINGIFY(__kernel void scale(…) {…}): OpenCL C that a macro makes a string of. In C++ no
// function is defined inside round brackets, and none is marked so.
void find_stringised_kernels(const TokenList& source, std::vector<FoundKernel>& out) {
  constexpr std::string_view kMark = "__kernel", kShortMark = "kernel";
  std::optional<Brackets> made;  // of the few files that need them
  size_t macros = 0;             // NAME( that are open
  std::vector<bool> open;
  for (size_t i = 1; i + 2 < source.size(); ++i) {
    if (source.is(i, "(")) {
      open.push_back(source.is_name(i - 1));
      macros += open.back() ? 1 : 0;
    } else if (source.is(i, ")") && !open.empty()) {
      macros -= open.back() ? 1 : 0;
      open.pop_back();
    }
    if (macros == 0 || !(source.is(i, kMark) || source.is(i, kShortMark))) continue;
    if (!source.is(i + 1, "void") && !source.is(i + 1, "__attribute__")) continue;
    const Brackets& brackets = made ? *made : made.emplace(source);
    size_t type = i + 1;  // behind __attribute__((…))
    while (source.is_name(type) && source.is(type + 1, "(") && brackets.closed(type + 1))
      type = brackets.partner(type + 1) + size_t{1};
    if (!source.is(type, "void") || !source.is_name(type + 1)) continue;
    FoundKernel& kernel = out.emplace_back();
    kernel.name = source.at(type + 1);
    kernel.line_first = source.tokens[i].line;
    kernel.line_name = kernel.line_last = source.tokens[type + 1].line;
    const size_t list = type + 2;
    if (!source.is(list, "(") || !brackets.closed(list)) continue;
    kernel.parameters = source.source(list + 1, brackets.partner(list));
    const size_t body = brackets.partner(list) + size_t{1};
    if (source.is(body, "{") && brackets.closed(body))
      kernel.line_last = source.tokens[brackets.partner(body)].line;
  }
}

}  // namespace

std::vector<FoundKernel> find_kernels_in_text(std::string_view text, const FileLine& line,
                                              bool with_cuda) {
  std::vector<FoundKernel> out;
  // A path or a message may name a word of it; programs have lines.
  if (!holds(text, '{') || !holds(text, '\n')) return out;
  const bool cuda = holds(text, "__global__");
  const ShaderRule* rule = cuda ? nullptr : shader_rule_in(text);
  if (rule == nullptr && !(cuda && with_cuda)) return out;
  const std::string code = plain_spelling(std::string(text));
  const TokenList tokens = lex(code);
  if (rule != nullptr) {
    out = find_shader_kernels(tokens, *rule, "main", rule->always.empty() ? "" : rule->always[0]);
  } else {
    for (Function& function : find_definitions(tokens, {}).functions) {
      if (function.kind != FunctionKind::kKernel || !function.defined) continue;
      FoundKernel& kernel = out.emplace_back();
      kernel.kind = KernelKind::kString;
      kernel.name = std::move(function.name);
      kernel.scope = std::move(function.scope);
      kernel.parameters = std::move(function.parameters);
      kernel.attributes = std::move(function.attributes);
      kernel.line_first = function.line_first;
      kernel.line_name = function.line_name;
      kernel.line_last = function.line_last;
    }
  }
  for (FoundKernel& kernel : out) {
    kernel.line_first = line(kernel.line_first);
    kernel.line_name = line(kernel.line_name);
    kernel.line_last = line(kernel.line_last);
  }
  return out;
}

std::vector<FoundKernel> find_kernels_in_strings(const TokenList& source) {
  std::vector<FoundKernel> out;
  if (!may_hold_kernels(source.text)) return out;
  find_stringised_kernels(source, out);
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.tokens[i].kind != TokenKind::kString) continue;
    LiteralText literal;
    for (; i < source.size() && source.tokens[i].kind == TokenKind::kString; ++i) {
      const std::string_view one = source.at(i);
      (is_raw(one) ? add_raw : add_plain)(one, source.tokens[i].line, literal);
    }
    if (!may_hold_kernels(literal.text)) continue;
    const auto line = [&](uint32_t at) {
      return at == 0 || at > literal.lines.size() ? literal.lines.back() : literal.lines[at - 1];
    };
    for (FoundKernel& kernel : find_kernels_in_text(literal.text, line, true))
      out.push_back(std::move(kernel));
  }
  return out;
}

}  // namespace fathom::cpp
