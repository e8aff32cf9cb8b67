#include "scan/cpp/macros.h"

#include <algorithm>
#include <unordered_map>

#include "scan/facts/text_lines.h"

namespace fathom::cpp {
namespace {

constexpr size_t kMaxExpansion = 256 << 10;  // bytes; dispatch macros multiply
constexpr int kMaxDepth = 8;

class Expander {
 public:
  Expander(const FindMacro& find, size_t& left) : find_(find), left_(left) {}

  void run(const TokenList& source, const Brackets& brackets, size_t first, size_t last, int depth,
           uint32_t use_line, std::string& out) {
    for (size_t i = first; i < std::min(last, source.size()); ++i) {
      if (source.tokens[i].kind == TokenKind::kDirective || out.size() > kMaxExpansion) continue;
      if (!out.empty() && i > 0 && source.tokens[i].begin > source.tokens[i - 1].end) out += ' ';
      const uint32_t line = use_line != 0 ? use_line : source.tokens[i].line;
      const Macro* macro = source.is_name(i) && depth < kMaxDepth && left_ > 0
                               ? find_(source.at(i), line, argument_count(source, brackets, i))
                               : nullptr;
      const size_t end = macro == nullptr ? source.size() : use_end(source, brackets, i, *macro);
      if (end == source.size()) {
        out += source.at(i);
        continue;
      }
      const std::string replaced = substitute(*macro, arguments(source, brackets, i, end));
      constexpr size_t kOfUse = 16;  // an empty one costs something, too
      left_ -= std::min(left_, replaced.size() + macro->body.size() + kOfUse);
      const TokenList inner = lex(replaced);
      run(inner, Brackets(inner), 0, inner.size(), depth + 1, line, out);
      i = end;
    }
  }

 private:
  static std::vector<std::string> arguments(const TokenList& source, const Brackets& brackets,
                                            size_t name, size_t end) {
    std::vector<std::string> found;
    if (end == name) return found;
    size_t begin = name + 2;
    for (size_t i = begin; i <= end; ++i) {
      if (source.is(i, "(") && brackets.closed(i)) i = brackets.partner(i);
      if (i != end && !source.is(i, ",")) continue;
      if (i != end || begin < end || !found.empty()) found.push_back(source.source(begin, i));
      begin = i + 1;
    }
    return found;
  }

  // SIZE_MAX: no brackets follow.
  static size_t argument_count(const TokenList& source, const Brackets& brackets, size_t name) {
    if (!source.is(name + 1, "(") || !brackets.closed(name + 1)) return SIZE_MAX;
    return arguments(source, brackets, name, brackets.partner(name + 1)).size();
  }

  // None: the name is no parameter.
  static std::optional<std::string> argument(const Macro& macro, std::string_view name,
                                             const std::vector<std::string>& arguments) {
    if (!macro.parameters) return std::nullopt;
    const std::vector<std::string>& parameters = *macro.parameters;
    for (size_t p = 0; p < parameters.size(); ++p) {
      std::string_view parameter = parameters[p];
      const bool rest = parameter.ends_with("...");
      if (rest) parameter.remove_suffix(3);
      if (rest && parameter.empty()) parameter = "__VA_ARGS__";
      if (parameter != name) continue;
      std::string text = p < arguments.size() ? arguments[p] : "";
      for (size_t more = p + 1; rest && more < arguments.size(); ++more) {
        text += ", " + arguments[more];
      }
      return text;
    }
    return std::nullopt;
  }

  static std::string substitute(const Macro& macro, const std::vector<std::string>& arguments) {
    const TokenList body = lex(macro.body);
    std::string out;
    bool pasting = false;
    for (size_t i = 0; i < body.size() && out.size() < kMaxExpansion; ++i) {
      if (body.is(i, "##")) {
        while (out.ends_with(' ')) out.pop_back();
        pasting = true;
        continue;
      }
      // >>> must stay together.
      const bool apart = i > 0 && body.tokens[i].begin > body.tokens[i - 1].end;
      if (!pasting && apart && !out.empty()) out += ' ';
      const std::optional<std::string> given =
          body.is_name(i) ? argument(macro, body.at(i), arguments) : std::nullopt;
      // GNU: `, ##args` without arguments takes the comma away.
      if (given && given->empty() && pasting && out.ends_with(',')) out.pop_back();
      out += given ? std::string_view(*given) : body.at(i);
      pasting = false;
    }
    return out;
  }

  const FindMacro& find_;
  size_t& left_;
};

}  // namespace

std::string expand(const TokenList& source, const Brackets& brackets, size_t first, size_t last,
                   const FindMacro& find, size_t& left) {
  std::string out;
  Expander(find, left).run(source, brackets, first, last, 0, 0, out);
  return out;
}

size_t expansions_of(size_t bytes) {
  constexpr size_t kLeast = 512 << 10, kOfByte = 64;
  return kLeast + kOfByte * bytes;
}

size_t use_end(const TokenList& source, const Brackets& brackets, size_t name, const Macro& macro) {
  if (!macro.parameters) return name;
  if (!source.is(name + 1, "(") || !brackets.closed(name + 1)) return source.size();
  return brackets.partner(name + 1);
}

void MacroTable::add(const std::vector<Macro>& macros,
                     const std::function<bool(const Macro&)>& wanted) {
  for (const Macro& macro : macros) {
    if (wanted(macro)) macros_[macro.name].push_back(&macro);
  }
}

const Macro* MacroTable::find(std::string_view name, uint32_t line) const {
  const auto found = macros_.find(name);
  if (found == macros_.end()) return nullptr;
  const std::vector<const Macro*>& all = found->second;
  const auto after =
      std::upper_bound(all.begin(), all.end(), line,
                       [](uint32_t at, const Macro* macro) { return at < macro->line; });
  return after == all.begin() ? all.front() : *(after - 1);
}

std::span<const Macro* const> MacroTable::all(std::string_view name) const {
  const auto found = macros_.find(name);
  return found == macros_.end() ? std::span<const Macro* const>() : found->second;
}

bool takes_arguments(const Macro& macro, size_t count) {
  if (!macro.parameters || count == SIZE_MAX) return !macro.parameters;
  const size_t wanted = macro.parameters->size();
  const bool variadic = wanted > 0 && macro.parameters->back().ends_with("...");
  return variadic ? count + 1 >= wanted : count == wanted;
}

void for_each_name(std::string_view body, const std::function<void(std::string_view)>& each) {
  for (const std::string_view word : code_words(body)) {
    if (!is_digit(word[0])) each(word);
  }
}

std::set<std::string, std::less<>> macros_reaching(
    const std::vector<const Macro*>& macros, const std::function<bool(const Macro&)>& holds,
    const std::function<bool(std::string_view)>& is_known) {
  std::set<std::string, std::less<>> reaching;
  std::vector<std::string_view> fresh;
  const auto add = [&](const Macro& macro) {
    if (reaching.insert(macro.name).second) fresh.push_back(macro.name);
  };
  // Who is named by whom, so that each macro's body is read once.
  std::unordered_map<std::string_view, std::vector<const Macro*>> named_by;
  for (const Macro* macro : macros) {
    if (holds(*macro)) {
      add(*macro);
      continue;
    }
    for_each_name(macro->body, [&](std::string_view name) {
      if (is_known(name)) return add(*macro);
      std::vector<const Macro*>& users = named_by[name];
      if (users.empty() || users.back() != macro) users.push_back(macro);
    });
  }
  while (!fresh.empty()) {
    const auto users = named_by.find(fresh.back());
    fresh.pop_back();
    if (users == named_by.end()) continue;
    for (const Macro* user : users->second) add(*user);
  }
  return reaching;
}

}  // namespace fathom::cpp
