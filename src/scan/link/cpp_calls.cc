#include "scan/link/cpp_calls.h"

#include <algorithm>

#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

// A call that may mean more functions says nothing about the others.
constexpr size_t kMaxMeant = 4;

// "MaskMode MASK_MODE = kNone" → MASK_MODE
std::string_view last_word(std::string_view parameter) {
  parameter = without_blanks_around(parameter.substr(0, parameter.find('=')));
  const size_t space = parameter.find_last_of(" \t\n.");
  return space == std::string_view::npos ? parameter : parameter.substr(space + 1);
}

}  // namespace

CppCalls::CppCalls(const Readings& readings, const SymbolIndex& index)
    : readings_(readings), index_(index), receivers_(readings, index) {
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const auto& functions = readings.readings[file].cpp.functions;
    for (uint32_t i = 0; i < functions.size(); ++i) {
      if (functions[i].defined && functions[i].kind == cpp::FunctionKind::kHost)
        by_name_[functions[i].name].push_back({file, i});
    }
  }
}

bool CppCalls::all_called(const std::vector<CppRef>& functions, std::string_view name) const {
  return std::all_of(functions.begin(), functions.end(),
                     [&](const CppRef& ref) { return qualified_name(function(ref)) == name; });
}

std::vector<CppRef> CppCalls::ending_with(std::string_view written) const {
  const auto found = by_name_.find(last_name(written));
  std::vector<CppRef> out;
  if (found == by_name_.end()) return out;
  for (const CppRef& ref : found->second) {
    if (ends_with_name(qualified_name(function(ref)), written)) out.push_back(ref);
  }
  return out;
}

std::vector<CppRef> CppCalls::named(std::string_view written, uint32_t from, Of of) const {
  const size_t begin = written.find_first_not_of("& ");
  if (begin == std::string_view::npos) return {};
  written = written.substr(begin, written.find('<', begin) - begin);
  std::vector<CppRef> out;
  constexpr size_t kMostMeant = 24;  // which of more it is stays open
  for (const SymbolKind kind :
       {SymbolKind::kHostFunction, SymbolKind::kDeviceFunction, SymbolKind::kKernel}) {
    if (of == Of::kHost && kind != SymbolKind::kHostFunction) break;
    const std::vector<Candidate>& meant = index_.resolve(written, {from}, kind);
    for (size_t i = 0; i < meant.size() && (of == Of::kHost || meant.size() <= kMostMeant); ++i)
      out.push_back({index_.symbol(meant[i].symbol).file, index_.symbol(meant[i].symbol).index});
  }
  return out;
}

bool CppCalls::sees(const std::vector<uint32_t>& unit, uint32_t file) const {
  return std::any_of(unit.begin(), unit.end(),
                     [&](uint32_t source) { return index_.includes().sees(source, file); });
}

std::vector<CppStep> CppCalls::calls_of(const CppRef& from,
                                        const std::vector<uint32_t>& unit) const {
  std::vector<CppStep> out;
  const cpp::Usage& usage = readings_.readings[from.file].usage;
  if (from.index >= usage.calls.size()) return out;
  for (const cpp::Call& call : usage.calls[from.index]) {
    if (!by_name_.contains(last_name(call.name))) continue;
    if (call.member) {
      add_member(call, from, out);
      continue;
    }
    const std::vector<CppReceivers::Method> constructors = receivers_.constructors(call, from);
    for (const CppReceivers::Method& one : constructors) {
      if (one.function != from) out.push_back({one.function, call.line, one.certainty, 1, true});
    }
    if (!constructors.empty()) continue;
    const size_t before = out.size();
    const NameScope at{from.file, function(from).scope};
    const std::vector<Candidate>& meant = index_.resolve(call.name, at, SymbolKind::kHostFunction);
    for (const Candidate& one : meant) {
      const Symbol& symbol = index_.symbol(one.symbol);
      const CppRef to = {symbol.file, symbol.index};
      if (to == from || out.size() - before == kMaxMeant) continue;
      // Which overload it is, types decide.
      const Certainty several = meant.size() == 1 ? Certainty::kCertain : Certainty::kLikely;
      out.push_back({to, call.line, std::max(one.certainty, several)});
    }
    const bool visible = out.size() > before && out[before].certainty == Certainty::kCertain;
    if (!visible && !unit.empty()) add_beside(call, from, unit, before, out);
  }
  return out;
}

// Of an object whose class is not known: only where one class alone has such a method.
void CppCalls::add_member(const cpp::Call& call, const CppRef& from,
                          std::vector<CppStep>& out) const {
  if (const auto known = receivers_.methods(call, from)) {
    for (const CppReceivers::Method& one : *known) {
      if (one.function != from) out.push_back({one.function, call.line, one.certainty});
    }
    return;
  }
  const std::vector<CppRef>& all = by_name_.find(last_name(call.name))->second;
  if (all.size() != 1 || all[0] == from || function(all[0]).scope.empty()) return;
  if (index_.includes().may_see(from.file, all[0].file))
    out.push_back({all[0], call.line, Certainty::kLikely});
}

// What the file only declares: defined in the sources that it is compiled with. The steps from
// `first` on were found without them.
void CppCalls::add_beside(const cpp::Call& call, const CppRef& from,
                          const std::vector<uint32_t>& unit, size_t first,
                          std::vector<CppStep>& out) const {
  std::vector<CppRef> beside;
  for (const CppRef& one : by_name_.find(last_name(call.name))->second) {
    if (one != from && ends_with_name(qualified_name(function(one)), call.name) &&
        sees(unit, one.file))
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
void CppCalls::keep_by_arguments(const cpp::Call& call, std::vector<CppRef>& candidates) const {
  const std::vector<std::string_view> arguments = split_list(call.template_arguments);
  std::vector<CppRef> best;
  size_t most = 1;  // one alone may be by chance
  for (const CppRef& ref : candidates) {
    const std::vector<std::string_view> parameters = split_list(function(ref).template_parameters);
    size_t same = 0;
    for (size_t i = 0; i < std::min(arguments.size(), parameters.size()); ++i)
      same += last_word(parameters[i]) == arguments[i];
    if (same > most) best.clear();
    most = std::max(most, same);
    if (same == most) best.push_back(ref);
  }
  if (most > 1) candidates = std::move(best);
}

// template <> void f<int>(…): no parameters, and all of one name. A single function is one too.
bool CppCalls::are_specialisations(const std::vector<CppRef>& functions) const {
  if (functions.size() == 1) return true;
  return all_called(functions, qualified_name(function(functions[0]))) &&
         std::all_of(functions.begin(), functions.end(), [this](const CppRef& ref) {
           return function(ref).template_parameters.empty();
         });
}

}  // namespace fathom
