#include "scan/cpp/vocabulary.h"

#include <algorithm>

#include "base/text_parts.h"
#include "base/tsv.h"
#include "scan/cpp/directives.h"
#include "scan/cpp/launches.h"
#include "scan/cpp/words.h"
#include "scan/kernels/kernel_macros.h"

namespace fathom::cpp {
namespace {

std::map<std::string_view, Macro> library_macros() {
  std::map<std::string_view, Macro> out;
  for (const KernelMacroRule& rule : kernel_macro_rules()) {
    Macro& macro = out[rule.name];
    macro.name = rule.name;
    macro.body = rule.stands_for;
    if (rule.parameters.empty()) continue;
    macro.parameters.emplace();
    for (const std::string_view one : split(rule.parameters, ','))
      macro.parameters->emplace_back(one);
  }
  return out;
}

}  // namespace

const Macro* library_kernel_macro(std::string_view name) {
  static const std::map<std::string_view, Macro> macros = library_macros();
  // Nearly all names begin with a small letter.
  if (name.empty() || (name[0] >= 'a' && name[0] <= 'z')) return nullptr;
  return find_value(macros, name);
}

void find_directives(const TokenList& source, Definitions& out) {
  for (size_t i = 0; i < source.size(); ++i) {
    const Token& token = source.tokens[i];
    if (token.kind != TokenKind::kDirective) continue;
    const Directive directive = read_directive(source.at(i));
    if (directive.kind == DirectiveKind::kDefine) {
      out.macros.push_back(read_macro(directive, token.line));
    } else if (directive.kind == DirectiveKind::kInclude && directive.rest.size() > 2) {
      const size_t end = directive.rest.find_first_of("\">", 1);
      if (end == std::string_view::npos) continue;
      out.includes.emplace_back(directive.rest.substr(1, end - 1));
      out.include_lines.push_back(token.line);
    }
  }
}

bool makes_kernels(const Macro& macro) { return holds(macro.body, "__global__"); }

bool makes_device_functions(const Macro& macro) {
  return !macro.parameters && holds(macro.body, "__device__");
}

Vocabulary::Vocabulary(const std::vector<Macro>& macros, const KnownNames& known)
    : known_(known), device_words_(known.device_words) {
  std::vector<const Macro*> list;
  for (const Macro& macro : macros) list.push_back(&macro);
  own_kernel_macros_ = macros_reaching(list, makes_kernels, [&](std::string_view name) {
    return known.kernel_macros.contains(name);
  });
  for (const Macro& macro : macros) {
    if (makes_device_functions(macro)) device_words_.insert(macro.name);
    const bool may_mark = is_all_caps(macro.name) || library_kernel_macro(macro.name) != nullptr;
    if (may_mark && !own_kernel_macros_.contains(macro.name)) own_other_macros_.insert(macro.name);
  }
  own_.add(macros, [&](const Macro& macro) {
    return own_kernel_macros_.contains(macro.name) || holds(macro.body, "##");
  });
  if (!own_kernel_macros_.empty() || !known.kernel_macros.empty())
    own_lists_.add(macros, calls_parameter);
}

const Macro* Vocabulary::list_macro(std::string_view name, uint32_t line) const {
  if (const Macro* macro = own_lists_.find(name, line)) return macro;
  const auto other = known_.passing_macros.find(name);
  return other == known_.passing_macros.end() ? nullptr : &other->second.front();
}

const Macro* Vocabulary::kernel_macro(std::string_view name, uint32_t line) const {
  if (own_kernel_macros_.contains(name) || known_.kernel_macros.contains(name))
    return find(name, line);
  return is_other_macro(name) ? nullptr : library_kernel_macro(name);
}

const Macro* Vocabulary::find(std::string_view name, uint32_t line) const {
  if (const Macro* macro = own_.find(name, line)) return macro;
  const auto other = known_.kernel_macros.find(name);
  if (other != known_.kernel_macros.end()) return &other->second;
  return is_other_macro(name) ? nullptr : library_kernel_macro(name);
}

bool misreads_macros(const Definitions& own, const KnownNames& known) {
  if (known.other_macros.empty()) return false;
  return std::any_of(own.functions.begin(), own.functions.end(), [&](const Function& function) {
    return known.other_macros.contains(function.marked_by);
  });
}

bool needs_known_macros(const TokenList& source, const Definitions& own, const KnownNames& known) {
  if (known.kernel_macros.empty()) return false;
  std::set<std::string_view> already;
  for (const Macro& macro : own.macros) already.insert(macro.name);
  for (size_t i = 0; i < source.size(); ++i) {
    if (!source.is_name(i)) continue;
    const std::string_view name = source.at(i);
    if (known.kernel_macros.contains(name) && !already.contains(name)) return true;
  }
  return false;
}

}  // namespace fathom::cpp
