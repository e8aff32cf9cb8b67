#include <algorithm>
#include <map>

#include "scan/cpp/bindings.h"
#include "scan/cpp/cpp_file.h"
#include "scan/cpp/fields.h"
#include "scan/cpp/launches.h"
#include "scan/cpp/macros.h"
#include "scan/cpp/name_sieve.h"
#include "scan/cpp/references.h"
#include "scan/cpp/words.h"
#include "scan/facts/code_names.h"

namespace fathom::cpp {
namespace {

std::set<std::string, std::less<>> find_named_kernels(const TokenList& source,
                                                      const Definitions& definitions,
                                                      const KnownNames& known) {
  std::set<std::pair<std::string_view, uint32_t>> own;
  for (const Function& function : definitions.functions) {
    if (function.kind == FunctionKind::kKernel) own.emplace(function.name, function.line_name);
  }
  // The sieve pays off for a long source; of many short ones each would read all kernels' names.
  const bool sieved = source.size() > known.kernels.size();
  NameSieve sieve;
  if (sieved) {
    for (const std::string& kernel : known.kernels) sieve.add(kernel);
  }
  std::set<std::string, std::less<>> named;
  const auto look = [&](std::string_view name, uint32_t line) {
    if ((sieved && !sieve.may_contain(name)) || !known.kernels.contains(name)) return;
    if (!own.contains({name, line})) named.emplace(name);
  };
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.is_name(i)) look(source.at(i), source.tokens[i].line);
  }
  for (const Macro& macro : definitions.macros) {
    for_each_name(macro.body, [&](std::string_view name) { look(name, 0); });
  }
  return named;
}

// `using namespace a::b` and `namespace b = a::b`. Which scope they stand in is left out: what they
// open is visible from there on, and code that must not see it is rarely written behind it.
void find_opened_namespaces(const Code& code, Usage& usage) {
  constexpr size_t kMost = 64;  // of a file
  std::vector<std::string>& opened = usage.using_namespaces;
  for (size_t i = 1; i + 2 < code.source.size(); ++i) {
    if (!code.is(i, "namespace")) continue;
    const bool directive = code.is(i - 1, "using");
    if (!directive && !code.is(i + 2, "=")) continue;
    const Path path = path_from(code, i + (directive ? 1 : 3), code.source.size());
    if (!path.valid()) continue;
    std::string name = path_name(code, path);
    if (!directive && usage.namespace_aliases.size() < kMost) {
      usage.namespace_aliases.emplace(code.source.at(i + 1), std::move(name));
    } else if (directive && opened.size() < kMost && !contains(opened, name)) {
      opened.push_back(std::move(name));
    }
  }
}

// What the macros of a file call: a use of one calls it too.
class MacroCalls {
 public:
  explicit MacroCalls(const Definitions& definitions) {
    macros_.add(definitions.macros, [](const Macro&) { return true; });
  }

  // Adds what the macros among a function's calls stand for, each once.
  void expand(std::vector<Reference>& references) {
    constexpr size_t kMostAdded = 256;  // of a function
    if (macros_.empty()) return;
    std::set<const Macro*> used;
    const size_t most = references.size() + kMostAdded;
    for (size_t i = 0; i < references.size() && references.size() < most; ++i) {
      const uint32_t line = references[i].line;
      const Macro* macro = references[i].kind == ReferenceKind::kCall
                               ? macros_.find(references[i].name, line)
                               : nullptr;
      if (macro == nullptr || !used.insert(macro).second) continue;
      for (const Reference& one : references_of(*macro)) {
        if (references.size() == most) break;
        references.push_back(one);
        references.back().line = line;
      }
    }
  }

 private:
  const std::vector<Reference>& references_of(const Macro& macro) {
    constexpr size_t kLongestBody = 20000;
    const auto [known, fresh] = known_.try_emplace(&macro);
    if (!fresh || macro.body.size() > kLongestBody) return known->second;
    known->second = find_references(macro.body, macro.line);
    std::erase_if(known->second, [&](const Reference& one) {
      const auto& given = macro.parameters;
      return given && std::find(given->begin(), given->end(), one.name) != given->end();
    });
    return known->second;
  }

  MacroTable macros_;
  std::map<const Macro*, std::vector<Reference>> known_;
};

// using Engine = const detail::Engine<2>;  → "detail::Engine"
std::string class_behind(const Code& code, const Alias& alias) {
  size_t first = alias.first;
  while (first < alias.last &&
         code.is_any(first, {"const", "volatile", "typename", "struct", "class"}))
    ++first;
  const Path path = path_from(code, first, alias.last);
  if (!path.valid() || is_keyword(code.source.at(path.names[0]))) return {};
  // Of Traits<T>::Engine the arguments decide.
  for (size_t i = 0; i + 1 < path.arguments.size(); ++i) {
    if (path.arguments[i] != SIZE_MAX) return {};
  }
  return class_in(code, path);
}

}  // namespace

Usage find_usage(const TokenList& source, const Definitions& definitions, const KnownNames& known) {
  const Brackets brackets(source);
  return find_usage(Code{source, brackets}, definitions, known);
}

Usage find_usage(const Code& code, const Definitions& definitions, const KnownNames& known) {
  const TokenList& source = code.source;
  Usage usage;
  usage.references.reserve(definitions.functions.size());
  // Functions in branches of an #if can share a body, but not everybody's.
  size_t tokens_left = 4 * source.size();
  MacroCalls macros(definitions);
  for (const Function& function : definitions.functions) {
    const size_t tokens = function.body_last - function.body_first;
    usage.references.emplace_back();
    if (tokens == 0 || tokens > tokens_left) continue;
    tokens_left -= tokens;
    usage.references.back() =
        find_references(code, {function.body_first + 1, function.body_last}, function.parameters);
    if (function.kind == FunctionKind::kHost) macros.expand(usage.references.back());
  }
  for (FoundLaunch& found : find_launches(code, definitions, known)) {
    usage.launches.push_back(std::move(found.launch));
  }
  usage.bindings = find_bindings(code, definitions);
  usage.fields = find_fields(code, definitions.classes);
  for (const Alias& alias : definitions.aliases)
    usage.alias_types.push_back(class_behind(code, alias));
  find_opened_namespaces(code, usage);
  usage.kernels_taken = find_taken_kernels(code, definitions, known);
  usage.kernels_named = find_named_kernels(source, definitions, known);
  for (const Launch& launch : usage.launches) {
    for (const std::string& kernel : launch.kernels) usage.kernels_named.emplace(last_name(kernel));
  }
  return usage;
}

}  // namespace fathom::cpp
