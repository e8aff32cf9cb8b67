#include "scan/link/cpp_calls.h"

#include <algorithm>

#include "scan/facts/code_names.h"

namespace fathom {
namespace {

// A call that may mean more functions says nothing about the others.
constexpr size_t kMaxMeant = 4;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// At the commas outside brackets.
std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size() && !text.empty(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '<' || c == '(';
    depth -= c == '>' || c == ')';
    if (c != ',' || depth > 0) continue;
    out.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return out;
}

// "MaskMode MASK_MODE = kNone" → MASK_MODE
std::string_view last_word(std::string_view parameter) {
  parameter = trimmed(parameter.substr(0, parameter.find('=')));
  const size_t space = parameter.find_last_of(" \t\n.");
  return space == std::string_view::npos ? parameter : parameter.substr(space + 1);
}

}  // namespace

std::string qualified_name(const cpp::Function& function) {
  return function.scope.empty() ? function.name : function.scope + "::" + function.name;
}

CppCalls::CppCalls(const Readings& readings, const IncludeGraph& includes)
    : readings_(readings), includes_(includes) {
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

std::vector<CppRef> CppCalls::named(std::string_view written) const {
  const size_t begin = written.find_first_not_of("& ");
  if (begin == std::string_view::npos) return {};
  written = written.substr(begin, written.find('<', begin) - begin);
  const auto found = by_name_.find(last_name(written));
  std::vector<CppRef> out;
  if (found == by_name_.end()) return out;
  for (const CppRef& candidate : found->second) {
    if (ends_with_name(qualified_name(function(candidate)), written)) out.push_back(candidate);
  }
  return out;
}

bool CppCalls::reaches(const std::vector<uint32_t>& unit, uint32_t file) const {
  return std::any_of(unit.begin(), unit.end(), [&](uint32_t source) {
    return source == file || includes_.reaches(source, file);
  });
}

std::vector<CppStep> CppCalls::calls_of(const CppRef& from,
                                        const std::vector<uint32_t>& unit) const {
  std::vector<CppStep> out;
  const cpp::Usage& usage = readings_.readings[from.file].usage;
  if (from.index >= usage.calls.size()) return out;
  for (const cpp::Call& call : usage.calls[from.index]) {
    const auto found = by_name_.find(last_name(call.name));
    if (found == by_name_.end()) continue;
    std::vector<CppRef> own, included, others;
    for (const CppRef& candidate : found->second) {
      if (candidate == from) continue;
      if (call.name.find("::") != std::string::npos &&
          !ends_with_name(qualified_name(function(candidate)), call.name))
        continue;
      if (call.member && function(candidate).scope.empty()) continue;
      if (candidate.file == from.file)
        own.push_back(candidate);
      else if (includes_.reaches(from.file, candidate.file))
        included.push_back(candidate);
      else
        others.push_back(candidate);
    }
    if (!own.empty() || !included.empty()) {
      const std::vector<CppRef>& meant = own.empty() ? included : own;
      const Certainty certainty = meant.size() == 1 ? Certainty::kCertain : Certainty::kLikely;
      for (size_t i = 0; i < std::min(meant.size(), kMaxMeant); ++i)
        out.push_back({meant[i], call.line, certainty});
    } else if (!others.empty()) {
      add_elsewhere(call, others, unit, out);
    }
  }
  return out;
}

// What the file only declares: defined in the sources beside it, or wherever the only one stands.
void CppCalls::add_elsewhere(const cpp::Call& call, const std::vector<CppRef>& others,
                             const std::vector<uint32_t>& unit, std::vector<CppStep>& out) const {
  std::vector<CppRef> beside = others;
  std::erase_if(beside, [&](const CppRef& ref) { return !reaches(unit, ref.file); });
  if (!beside.empty() && !call.member) {
    keep_by_arguments(call, beside);
    // Of one name they are specialisations of one template: the first stands for them.
    const bool one = are_specialisations(beside);
    for (size_t i = 0; i < std::min(beside.size(), one ? 1 : kMaxMeant); ++i)
      out.push_back({beside[i], call.line, one ? Certainty::kLikely : Certainty::kUnsure,
                     one ? beside.size() : 1});
  } else if (others.size() == 1 && by_name_.find(last_name(call.name))->second.size() == 1) {
    out.push_back({others[0], call.line, Certainty::kLikely});
  } else if (!call.member && all_called(others, qualified_name(function(others[0])))) {
    out.push_back({others[0], call.line, Certainty::kUnsure});
  }
}

// f<HEAD_DIM, MASK_MODE>(…): those whose template parameters are called so at the most places.
void CppCalls::keep_by_arguments(const cpp::Call& call, std::vector<CppRef>& candidates) const {
  const std::vector<std::string_view> arguments = split_arguments(call.template_arguments);
  std::vector<CppRef> best;
  size_t most = 1;  // one alone may be by chance
  for (const CppRef& ref : candidates) {
    const std::vector<std::string_view> parameters =
        split_arguments(function(ref).template_parameters);
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
