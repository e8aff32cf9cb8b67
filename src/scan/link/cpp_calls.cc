#include "scan/link/cpp_calls.h"

#include <algorithm>

namespace fathom {
namespace {

std::string_view last_name(std::string_view name) {
  const size_t at = name.rfind("::");
  return at == std::string_view::npos ? name : name.substr(at + 2);
}

bool ends_with_name(std::string_view full, std::string_view written) {
  if (!full.ends_with(written)) return false;
  return full.size() == written.size() || full[full.size() - written.size() - 1] == ':';
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
      for (size_t i = 0; i < std::min<size_t>(meant.size(), 4); ++i)
        out.push_back({meant[i], call.line, certainty});
      continue;
    }
    // What the file only declares is defined in the sources beside it.
    std::vector<CppRef> beside = others;
    std::erase_if(beside, [&](const CppRef& ref) { return !reaches(unit, ref.file); });
    if (!beside.empty() && !call.member) {
      // Of one name they are specialisations of one template: the first stands for them.
      const bool one = all_called(beside, qualified_name(function(beside[0])));
      for (size_t i = 0; i < std::min<size_t>(beside.size(), one ? 1 : 4); ++i)
        out.push_back({beside[i], call.line, one ? Certainty::kLikely : Certainty::kUnsure});
    } else if (others.size() == 1 && found->second.size() == 1) {
      out.push_back({others[0], call.line, Certainty::kLikely});
    } else if (!others.empty() && !call.member &&
               all_called(others, qualified_name(function(others[0])))) {
      // Specialisations of one template, each in a file of its own: the first stands for them.
      out.push_back({others[0], call.line, Certainty::kUnsure});
    }
  }
  return out;
}

}  // namespace fathom
