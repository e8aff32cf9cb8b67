#include "scan/cpp/values.h"

#include <algorithm>

#include "scan/cpp/directives.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

constexpr size_t kMaxMeanings = 16;
// Enough for code that people write; a name assigned a million times is a table.
constexpr size_t kMaxTries = 100;

bool ends_type(const Code& code, size_t i) {
  // T*, T&, T const*: what a value takes the address of, `= &x`, has no type before it.
  while (i > 0 && (code.is(i, "*") || code.is(i, "&") || code.is(i, "&&"))) --i;
  if (code.source.is_name(i)) {
    const std::string_view word = code.source.at(i);
    return !is_keyword(word) || word == "auto" || word == "const" || word == "constexpr";
  }
  return code.is(i, ">") && code.brackets.closed(i);
}

// `+=`, `*=`: the lexer keeps most operators of several letters apart, side by side.
bool combines_at(const TokenList& source, size_t op) {
  const std::string_view at = source.at(op);
  return at == "+=" || at == "-=" ||
         (at.size() == 1 && source.is(op + 1, "=") &&
          source.tokens[op].end == source.tokens[op + 1].begin &&
          std::string_view("*/%|&^").find(at[0]) != std::string_view::npos);
}

}  // namespace

Values::Values(const Code& code) : code_(code) {
  find_branches_and_labels();
  const TokenList& source = code_.source;
  // The closers of the brackets around, and whether they hold statements. Defaults of parameters
  // are no values.
  std::vector<std::pair<uint32_t, bool>> around;
  for (size_t i = 1; i + 1 < source.size(); ++i) {
    const Token& token = source.tokens[i];
    if (token.kind == TokenKind::kIdentifier && source.is(i, "typedef")) add_typedef(i);
    if (token.kind != TokenKind::kPunctuator) continue;
    const char c = source.text[token.begin];
    while (!around.empty() && around.back().first <= i) around.pop_back();
    const bool statements = around.empty() || around.back().second;
    if (c == '=' && token.end - token.begin == 1 && statements) add_assignment(i);
    if (c == ';') add_declared(i);
    if (const size_t name = name_changed_at(source, i)) counted_[source.at(name)].push_back(i);
    const bool member = i > 2 && source.is_name(i - 1) && source.is(i - 2, ".") &&
                        source.is_name(i - 3) && combines_at(source, i);
    if (member && statements) {
      fields_[source.at(i - 3)].push_back(
          {i - 3, i + (c == '+' || c == '-' ? 1u : 2u), source.source(i - 2, i), true});
    }
    const bool opens = (c == '(' || c == '{' || c == '<' || c == '[') && code_.brackets.closed(i) &&
                       code_.brackets.partner(i) > i;
    if (!opens) continue;
    if ((c == '(' || c == '{') && statements) add_constructed(i - 1);
    around.emplace_back(code_.brackets.partner(i), c == '{');
  }
}

// Walks back over `config.attrs[0].id` to its first name.
void Values::add_assignment(size_t equals) {
  const TokenList& source = code_.source;
  size_t first = equals - 1;
  if (source.is(first, ")")) return add_function_pointer(equals);
  for (int parts = 0; parts < 16; ++parts) {
    if (source.is(first, "]") && code_.brackets.closed(first)) {
      const size_t open = code_.brackets.partner(first);
      if (open == 0) return;
      first = open - 1;
      continue;
    }
    if (!source.is_name(first)) return;
    if (first < 2 || !(source.is(first - 1, ".") || source.is(first - 1, "->"))) break;
    first -= 2;
  }
  if (!source.is_name(first)) return;
  const std::string_view name = source.at(first);
  const bool has_type = first > 0 && ends_type(code_, first - 1);
  if (first + 1 < equals && !(source.is(first + 1, "[") && has_type)) {
    fields_[name].push_back({first, equals + 1, source.source(first + 1, equals)});
  } else if (first > 0 && source.is(first - 1, "using")) {
    values_[name].push_back({first, equals + 1, ValueKind::kAlias});
  } else {
    values_[name].push_back(
        {first, equals + 1, has_type ? ValueKind::kDeclared : ValueKind::kAssigned});
  }
}

// The lexer keeps most operators of several letters apart: they stand side by side.
size_t name_changed_at(const TokenList& source, size_t op) {
  const auto joined = [&](size_t i) {
    return i + 1 < source.size() && source.tokens[i].end == source.tokens[i + 1].begin;
  };
  const std::string_view at = source.at(op);
  const bool next = joined(op);
  const bool counts = next && (at == "+" || at == "-") && source.at(op + 1) == at;
  const bool combines = combines_at(source, op);
  const bool shifts =
      next && ((at == "<" && source.is(op + 1, "<=")) ||
               (at == ">" && source.is(op + 1, ">") && joined(op + 1) && source.is(op + 2, "=")));
  if (!counts && !combines && !shifts) return 0;
  if (op > 0 && source.is_name(op - 1)) {
    const bool member = op > 1 && (source.is(op - 2, ".") || source.is(op - 2, "->"));
    return member ? 0 : op - 1;
  }
  return counts && op + 2 < source.size() && source.is_name(op + 2) ? op + 2 : 0;
}

bool Values::is_counted(const Value& value) const {
  const auto known = counted_.find(code_.source.at(value.name));
  if (known == counted_.end()) return false;
  const std::vector<size_t>& all = known->second;
  size_t tries = 0;
  for (auto at = std::lower_bound(all.begin(), all.end(), value.name);
       at != all.end() && tries < kMaxTries; ++at, ++tries) {
    if (code_.brackets.visible(value.name, *at)) return true;
  }
  return false;
}

// void (*name)(…) = value
void Values::add_function_pointer(size_t equals) {
  const TokenList& source = code_.source;
  if (!code_.brackets.closed(equals - 1)) return;
  const size_t parameters = code_.brackets.partner(equals - 1);
  if (parameters < 4 || !source.is(parameters - 1, ")") || !source.is_name(parameters - 2)) return;
  if (!source.is(parameters - 3, "*")) return;
  const size_t name = parameters - 2;
  values_[source.at(name)].push_back({name, equals + 1, ValueKind::kDeclared});
}

// `T name(…)` and its kin behind a comma, `T one(…), name(…)`; never a function's header.
void Values::add_constructed(size_t name) {
  const TokenList& source = code_.source;
  if (name == 0 || !source.is_name(name) || is_keyword(source.at(name))) return;
  const bool second = source.is(name - 1, ",") && name > 1 &&
                      (source.is(name - 2, ")") || source.is(name - 2, "}"));
  if (!second && (!ends_type(code_, name - 1) || source.is(name - 1, "&&"))) return;
  if (source.is(name - 1, "void")) return;
  const size_t after = code_.past(name + 1);
  if (!source.is(after, ";") && !source.is(after, ",")) return;
  values_[source.at(name)].push_back({name, name + 1, ValueKind::kConstructed});
}

// `T name;` and `T name[2];` have no value yet, and hide what the name meant before.
void Values::add_declared(size_t semicolon) {
  size_t name = semicolon - 1;
  if (code_.is(name, "]") && code_.brackets.closed(name)) name = code_.brackets.partner(name) - 1;
  if (name == 0 || name >= semicolon || !code_.source.is_name(name)) return;
  if (!ends_type(code_, name - 1)) return;
  values_[code_.source.at(name)].push_back({name, semicolon, ValueKind::kDeclared});
}

void Values::add_typedef(size_t token) {
  constexpr size_t kMaxTokens = 400;
  size_t end = token + 1;
  while (end < code_.source.size() && end - token < kMaxTokens && !code_.is(end, ";")) {
    end = code_.past(end);
  }
  if (!code_.is(end, ";") || !code_.source.is_name(end - 1)) return;
  values_[code_.source.at(end - 1)].push_back({end - 1, token + 1, ValueKind::kAlias});
}

Range Values::range(const Value& value) const {
  if (value.kind == ValueKind::kConstructed) {
    return {value.begin, code_.brackets.partner(value.begin) + 1};
  }
  // A typedef's value stands before its name.
  if (value.begin < value.name) return {value.begin, value.name};
  return value_from(code_, value.begin);
}

// `if (x) name = 1;` and the branches of an #if may be left out on the way.
bool Values::always_reaches(size_t name, size_t at) const {
  if (!code_.brackets.visible(name, at)) return false;
  if (name == 0 || code_.is(name - 1, ")") || code_.is(name - 1, "else") || code_.is(name - 1, "?"))
    return false;
  // The branch of an #if that the name stands in has ended.
  const auto after =
      std::upper_bound(branches_.begin(), branches_.end(), name,
                       [](size_t token, const auto& change) { return token < change.first; });
  if (after != branches_.begin() && branch_ends_[std::prev(after)->second] < at) return false;
  // Another label of the switch around: the code before it may be passed over.
  const auto labels = labels_.find(code_.brackets.enclosing(name));
  if (labels == labels_.end()) return true;
  const auto label = std::lower_bound(labels->second.begin(), labels->second.end(), name);
  return label == labels->second.end() || *label >= at;
}

// Where branches of #if and labels of switches stand, so that no question walks over the code.
void Values::find_branches_and_labels() {
  std::vector<uint32_t> open = {0};
  branch_ends_.push_back(UINT32_MAX);
  branches_.emplace_back(0, 0);
  const auto begin_branch = [&] {
    open.push_back(static_cast<uint32_t>(branch_ends_.size()));
    branch_ends_.push_back(UINT32_MAX);
  };
  for (size_t i = 0; i < code_.source.size(); ++i) {
    const auto token = static_cast<uint32_t>(i);
    if (code_.is(i, "case") || code_.is(i, "default"))
      labels_[code_.brackets.enclosing(i)].push_back(token);
    if (code_.source.tokens[i].kind != TokenKind::kDirective) continue;
    const DirectiveKind kind = read_directive(code_.source.at(i)).kind;
    const bool ends = kind == DirectiveKind::kElse || kind == DirectiveKind::kEndif;
    if (!ends && kind != DirectiveKind::kIf) continue;
    if (ends) {
      branch_ends_[open.back()] = token;
      open.pop_back();
    }
    if (kind != DirectiveKind::kEndif || open.empty()) begin_branch();
    branches_.emplace_back(token, open.back());
  }
}

std::vector<Value> Values::meanings(std::string_view name, size_t at, size_t from) const {
  std::vector<Value> found;
  const auto values = values_.find(name);
  if (values == values_.end()) return found;
  const std::vector<Value>& all = values->second;
  auto before = std::lower_bound(all.begin(), all.end(), at, [](const Value& value, size_t token) {
    return value.name < token;
  });
  for (size_t tries = 0; before != all.begin() && tries < kMaxTries; ++tries) {
    --before;
    if (before->kind == ValueKind::kAssigned) {
      if (found.size() < kMaxMeanings && before->name >= from) found.push_back(*before);
      if (before->name >= from && always_reaches(before->name, at)) break;
    } else if (code_.brackets.visible(before->name, at)) {
      found.push_back(*before);
      break;
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<FieldValue> Values::fields(std::string_view name, size_t at, size_t from) const {
  std::vector<FieldValue> found;
  const auto fields = fields_.find(name);
  if (fields == fields_.end()) return found;
  const std::vector<Value> meaning = meanings(name, at, from);
  const bool declared = !meaning.empty() && meaning.front().kind != ValueKind::kAssigned;
  const size_t since = declared ? meaning.front().name : from;
  const std::vector<FieldValue>& all = fields->second;
  auto before =
      std::lower_bound(all.begin(), all.end(), at,
                       [](const FieldValue& value, size_t token) { return value.name < token; });
  while (before != all.begin() && found.size() < 64) {
    --before;
    if (before->name < since) break;
    found.push_back(*before);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace fathom::cpp
