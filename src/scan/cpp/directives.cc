#include "scan/cpp/directives.h"

#include <algorithm>

#include "scan/facts/text_lines.h"

namespace fathom::cpp {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (is_blank(text.front()) || text.front() == '\\')) text.remove_prefix(1);
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\\')) text.remove_suffix(1);
  return text;
}

DirectiveKind kind_of(std::string_view word) {
  if (word == "if" || word == "ifdef" || word == "ifndef") return DirectiveKind::kIf;
  if (word == "else" || word.starts_with("elif")) return DirectiveKind::kElse;
  if (word == "endif") return DirectiveKind::kEndif;
  if (word == "define") return DirectiveKind::kDefine;
  if (word == "undef") return DirectiveKind::kUndefine;
  if (word == "include") return DirectiveKind::kInclude;
  return DirectiveKind::kOther;
}

// Comments of a directive: lex() leaves them out of token lists, not out of directives. Strings
// are kept whole.
std::string without_comments(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const size_t begin = i;
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
      out += text.substr(begin, i + 1 - begin);
    } else if (c == '/' && text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i + 2), text.size() - 2) + 1;
      out += ' ';
    } else if (c == '/' && text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '\\' && (text.substr(i + 1, 1) == "\n" || text.substr(i + 1, 2) == "\r\n")) {
      i = text.find('\n', i);
      out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

std::string condition_of(const Directive& directive) {
  std::string rest = without_comments(directive.rest);
  const auto both_spaces = [](char a, char b) { return a == ' ' && b == ' '; };
  rest.erase(std::unique(rest.begin(), rest.end(), both_spaces), rest.end());
  const std::string_view condition = trimmed(rest);
  if (directive.word == "ifdef") return "defined(" + std::string(condition) + ")";
  if (directive.word == "ifndef") return "!defined(" + std::string(condition) + ")";
  return std::string(condition);
}

std::vector<std::string> read_parameters(std::string_view list) {
  std::vector<std::string> parameters;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view one = trimmed(list.substr(0, end));
    if (!one.empty()) parameters.emplace_back(one);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parameters;
}

}  // namespace

Directive read_directive(std::string_view text) {
  text.remove_prefix(std::min<size_t>(1, text.size()));  // #
  text = trimmed(text);
  size_t end = 0;
  while (end < text.size() && is_word_character(text[end])) ++end;
  return {kind_of(text.substr(0, end)), text.substr(0, end), trimmed(text.substr(end))};
}

bool is_never(const Directive& directive) {
  if (directive.word != "if" || !directive.rest.starts_with('0')) return false;
  const std::string_view after = trimmed(directive.rest.substr(1));
  return after.empty() || after.starts_with("/*");
}

Macro read_macro(const Directive& define, uint32_t line) {
  Macro macro;
  macro.line = line;
  const std::string text = without_comments(define.rest);
  std::string_view rest = text;
  size_t end = 0;
  while (end < rest.size() && (is_word_character(rest[end]) || rest[end] == '$')) ++end;
  macro.name = rest.substr(0, end);
  rest.remove_prefix(end);
  // Only a bracket that touches the name opens parameters.
  const size_t close = rest.starts_with('(') ? rest.find(')') : std::string_view::npos;
  if (close != std::string_view::npos) {
    macro.parameters = read_parameters(rest.substr(1, close - 1));
    rest.remove_prefix(close + 1);
  }
  macro.body = trimmed(rest);
  return macro;
}

std::vector<Branch> find_branches(const TokenList& source) {
  std::vector<Branch> branches;
  struct OpenIf {
    std::vector<uint32_t> branches;
    std::string taken_before;  // of the branches before, for #else
  };
  std::vector<OpenIf> open;
  const auto begin_branch = [&](size_t token, std::string condition) {
    const uint32_t parent = open.size() > 1 ? open[open.size() - 2].branches.back() : kNoBranch;
    open.back().branches.push_back(static_cast<uint32_t>(branches.size()));
    branches.push_back({static_cast<uint32_t>(token), static_cast<uint32_t>(source.size()), parent,
                        std::move(condition)});
  };
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.tokens[i].kind != TokenKind::kDirective) continue;
    const Directive directive = read_directive(source.at(i));
    if (directive.kind == DirectiveKind::kIf) {
      open.push_back({{}, condition_of(directive)});
      begin_branch(i, open.back().taken_before);
    } else if (directive.kind == DirectiveKind::kElse && !open.empty()) {
      Branch& before = branches[open.back().branches.back()];
      before.last = static_cast<uint32_t>(i);
      before.ended_by_else = true;
      const std::string condition = condition_of(directive);
      begin_branch(i, condition.empty() ? "!(" + open.back().taken_before + ")" : condition);
      if (open.back().taken_before.size() < 500) open.back().taken_before += " || " + condition;
    } else if (directive.kind == DirectiveKind::kEndif && !open.empty()) {
      branches[open.back().branches.back()].last = static_cast<uint32_t>(i);
      const bool several = open.back().branches.size() > 1;
      for (const uint32_t branch : open.back().branches) branches[branch].has_alternative = several;
      open.pop_back();
    }
  }
  return branches;
}

uint32_t branch_around(const std::vector<Branch>& branches, size_t token) {
  const auto after = std::upper_bound(branches.begin(), branches.end(), token,
                                      [](size_t at, const Branch& b) { return at < b.first; });
  if (after == branches.begin()) return kNoBranch;
  auto branch = static_cast<uint32_t>(after - branches.begin() - 1);
  // Deeper nesting than this is no program.
  for (int depth = 0; branch != kNoBranch && branches[branch].last <= token; ++depth) {
    branch = depth < 256 ? branches[branch].parent : kNoBranch;
  }
  return branch;
}

}  // namespace fathom::cpp
