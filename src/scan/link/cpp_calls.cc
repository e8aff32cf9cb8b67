#include "scan/link/cpp_calls.h"

#include <algorithm>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

// A call that may mean more functions says nothing about the others.
constexpr size_t kMaxMeant = 4;
constexpr size_t kMostMethods = 24, kMostClasses = 4;

// "MaskMode MASK_MODE = kNone" → MASK_MODE
std::string_view last_word(std::string_view parameter) {
  parameter = without_blanks_around(parameter.substr(0, parameter.find('=')));
  const size_t space = parameter.find_last_of(" \t\n.");
  return space == std::string_view::npos ? parameter : parameter.substr(space + 1);
}

}  // namespace

CppCalls::CppCalls(const SymbolIndex& index, const ClassTree& classes)
    : index_(index), classes_(classes) {
  uint32_t files = 0;
  for (uint32_t i = 0; i < index.size(); ++i) {
    const Symbol& symbol = index.symbol({i});
    files = std::max(files, symbol.file + 1);
    if (symbol.kind == SymbolKind::kHostFunction && symbol.defined)
      by_name_[symbol.name].push_back({i});
  }
  for (uint32_t file = 0; file < files; ++file) {
    for (const cpp::Field& field : index.code(file).usage->fields)
      fields_.try_emplace({field.owner, field.name, file}, field.type);
  }
}

std::vector<FunctionNode> CppCalls::ending_with(std::string_view written) const {
  const auto found = by_name_.find(last_name(written));
  std::vector<FunctionNode> out;
  if (found == by_name_.end()) return out;
  for (const SymbolId id : found->second) {
    if (ends_with_name(index_.qualified_name(id), written)) out.push_back(node(id));
  }
  return out;
}

std::vector<FunctionNode> CppCalls::named(std::string_view written, uint32_t from, Of of) const {
  const size_t begin = written.find_first_not_of("& ");
  if (begin == std::string_view::npos) return {};
  written = written.substr(begin, written.find('<', begin) - begin);
  std::vector<FunctionNode> out;
  constexpr size_t kMostMeant = 24;  // which of more it is stays open
  for (const SymbolKind kind :
       {SymbolKind::kHostFunction, SymbolKind::kDeviceFunction, SymbolKind::kKernel}) {
    if (of == Of::kHost && kind != SymbolKind::kHostFunction) break;
    const std::vector<Candidate>& meant = index_.resolve(written, {from}, kind);
    for (size_t i = 0; i < meant.size() && (of == Of::kHost || meant.size() <= kMostMeant); ++i)
      out.push_back(node(meant[i].symbol));
  }
  return out;
}

std::vector<CppStep> CppCalls::calls_of(const FunctionNode& function,
                                        const std::vector<uint32_t>& unit) const {
  std::vector<CppStep> out;
  const SymbolId from = index_.function(function.file, function.index);
  const Symbol& caller = index_.symbol(from);
  const auto& references = index_.code(caller.file).usage->references;
  if (caller.index >= references.size()) return out;
  for (const cpp::Reference& call : references[caller.index]) {
    const std::string_view name = last_name(call.name);
    if (call.kind == cpp::ReferenceKind::kType) continue;
    if (!by_name_.contains(name)) {
      // Engine engine(…): an alias has the constructors of what it stands for.
      if (!index_.named(name, SymbolKind::kAlias).empty()) add_constructors(call, from, out);
      continue;
    }
    if (call.kind == cpp::ReferenceKind::kMember) {
      add_member(call, from, out);
      continue;
    }
    if (add_constructors(call, from, out) || call.kind == cpp::ReferenceKind::kMade) continue;
    const size_t before = out.size();
    const std::vector<Candidate>& meant =
        index_.resolve(call.name, {caller.file, caller.scope}, SymbolKind::kHostFunction);
    for (const Candidate& one : meant) {
      if (one.symbol == from || out.size() - before == kMaxMeant) continue;
      // Which overload it is, types decide.
      const Certainty several = meant.size() == 1 ? Certainty::kCertain : Certainty::kLikely;
      out.push_back({one.symbol, call.line, std::max(one.certainty, several)});
    }
    const bool visible = out.size() > before && out[before].certainty == Certainty::kCertain;
    if (!visible && !unit.empty()) add_beside(call, from, unit, before, out);
  }
  return out;
}

// Of an object whose class is not known: only where one class alone has such a method.
void CppCalls::add_member(const cpp::Reference& call, SymbolId from,
                          std::vector<CppStep>& out) const {
  if (const auto known = methods(call, from)) {
    std::ranges::copy_if(*known, std::back_inserter(out),
                         [&](const CppStep& one) { return one.to != from; });
    return;
  }
  const Ids& all = by_name_.find(last_name(call.name))->second;
  if (all.size() != 1 || all[0] == from || index_.symbol(all[0]).scope.empty()) return;
  if (index_.includes().may_see(index_.symbol(from).file, index_.symbol(all[0]).file))
    out.push_back({all[0], call.line, Certainty::kLikely});
}

// The constructors that `Type name;` and `Type(…)` run; false: it names no class that has one.
bool CppCalls::add_constructors(const cpp::Reference& call, SymbolId from,
                                std::vector<CppStep>& out) const {
  const Symbol& caller = index_.symbol(from);
  const std::vector<Candidate> meant = classes_.classes_of(call.name, {caller.file, caller.scope});
  bool found = false;
  for (size_t i = 0; i < meant.size() && meant.size() <= kMostClasses; ++i) {
    const Ids own = methods_of(meant[i].symbol, index_.symbol(meant[i].symbol).name);
    const Certainty several = own.size() == 1 ? Certainty::kCertain : Certainty::kLikely;
    for (const SymbolId id : own) {
      found = true;
      if (id != from)
        out.push_back({id, call.line, std::max(meant[i].certainty, several), 1, true});
    }
  }
  return found;
}

// What the file only declares: defined in the sources that it is compiled with. The steps from
// `first` on were found without them.
void CppCalls::add_beside(const cpp::Reference& call, SymbolId from,
                          const std::vector<uint32_t>& unit, size_t first,
                          std::vector<CppStep>& out) const {
  const auto is_seen = [&](uint32_t file) {
    return std::ranges::any_of(
        unit, [&](uint32_t source) { return index_.includes().sees(source, file); });
  };
  Ids beside;
  for (const SymbolId one : by_name_.find(last_name(call.name))->second) {
    if (one != from && ends_with_name(index_.qualified_name(one), call.name) &&
        is_seen(index_.symbol(one).file))
      beside.push_back(one);
  }
  if (beside.empty()) return;
  out.resize(first);
  keep_by_arguments(call, beside);
  // Of one name they are specialisations of one template: the first stands for them.
  const bool one = are_specialisations(beside);
  for (size_t i = 0; i < std::min(beside.size(), one ? 1 : kMaxMeant); ++i)
    out.push_back({beside[i], call.line, one ? Certainty::kLikely : Certainty::kUnsure,
                   one ? beside.size() : 1});
}

// f<HEAD_DIM, MASK_MODE>(…): those whose template parameters are called so at the most places.
void CppCalls::keep_by_arguments(const cpp::Reference& call, Ids& candidates) const {
  Ids best;
  size_t most = 1;  // one alone may be by chance
  for (const SymbolId id : candidates) {
    const std::vector<std::string_view> parameters = split_list(index_.template_parameters(id));
    size_t same = 0;
    for (size_t i = 0; i < std::min(call.arguments.size(), parameters.size()); ++i)
      same += last_word(parameters[i]) == call.arguments[i];
    if (same > most) best.clear();
    most = std::max(most, same);
    if (same == most) best.push_back(id);
  }
  if (most > 1) candidates = std::move(best);
}

// template <> void f<int>(…): no parameters, and all of one name. A single function is one too.
bool CppCalls::are_specialisations(const Ids& functions) const {
  return functions.size() == 1 || std::ranges::all_of(functions, [&](SymbolId id) {
           return index_.qualified_name(id) == index_.qualified_name(functions[0]) &&
                  index_.template_parameters(id).empty();
         });
}

std::vector<SymbolId> CppCalls::methods_of(SymbolId type, std::string_view method) const {
  constexpr size_t kMostTwins = 24;
  Ids all, own;
  for (const SymbolId one : index_.methods(index_.qualified_name(type), method)) {
    if (index_.symbol(one).kind == SymbolKind::kHostFunction) all.push_back(one);
  }
  if (all.size() < 2) return all;
  const uint32_t home = index_.symbol(type).file;
  const bool many = all.size() > kMostTwins;  // of very many only what stands beside the class
  for (const SymbolId one : all) {
    const uint32_t file = index_.symbol(one).file;
    if (file == home || (!many && index_.includes().sees(file, home))) own.push_back(one);
  }
  return own.empty() && !many ? all : own;
}

std::optional<std::pair<std::string, uint32_t>> CppCalls::field_type(std::string_view object,
                                                                     SymbolId from) const {
  const bool element = object.ends_with("[]");
  const std::string_view name = element ? object.substr(0, object.size() - 2) : object;
  const Symbol& caller = index_.symbol(from);
  if (caller.scope.empty() || index_.named(last_name(caller.scope), SymbolKind::kClass).empty())
    return std::nullopt;
  const std::vector<Candidate>& meant =
      index_.resolve(caller.scope, {caller.file}, SymbolKind::kClass);
  for (size_t i = 0; i < meant.size() && meant.size() <= kMostClasses; ++i) {
    for (const SymbolId id : classes_.with_bases(meant[i].symbol)) {
      const std::string scope = index_.qualified_name(id);
      const uint32_t file = index_.symbol(id).file;
      const auto found = fields_.find({scope, name, file});
      if (found == fields_.end()) continue;
      std::string declared(found->second);
      const bool list = declared.ends_with("[]");
      if (list && !element) return std::pair(std::string("std::vector"), file);
      if (list) declared.resize(declared.size() - 2);
      return std::pair(std::move(declared), file);
    }
  }
  return std::nullopt;
}

std::optional<std::vector<CppStep>> CppCalls::methods(const cpp::Reference& call,
                                                      SymbolId from) const {
  if (call.type.empty()) return std::nullopt;
  const Symbol& caller = index_.symbol(from);
  std::string declared = call.type.substr(0, call.type.find("()"));
  uint32_t file = caller.file;
  if (declared.starts_with('.')) {
    const auto field = field_type(std::string_view(declared).substr(1), from);
    if (!field) return std::nullopt;
    std::tie(declared, file) = *field;
  }
  if (declared.starts_with("std::")) return std::vector<CppStep>();
  const std::vector<Candidate> meant = classes_.classes_of(declared, {file, caller.scope});
  if (meant.empty() || meant.size() > kMostClasses) return std::nullopt;
  std::vector<CppStep> out;
  for (const Candidate& one : meant) {
    Ids found;
    for (const SymbolId id : classes_.with_bases(one.symbol)) {
      if (found.empty()) found = methods_of(id, last_name(call.name));
    }
    const size_t own = found.size();
    for (const SymbolId id : classes_.derived_from(one.symbol)) {
      for (const SymbolId method : methods_of(id, last_name(call.name))) found.push_back(method);
    }
    // Which class's it is, or which overload, is decided when it runs or by types.
    const Certainty several = found.size() < 2      ? Certainty::kCertain
                              : own == found.size() ? Certainty::kLikely
                                                    : Certainty::kUnsure;
    for (const SymbolId id : found)
      out.push_back({id, call.line, std::max(one.certainty, several)});
  }
  if (out.size() > kMostMethods) return std::vector<CppStep>();
  return out;
}

}  // namespace fathom
