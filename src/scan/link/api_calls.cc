#include "scan/link/api_calls.h"

#include <set>
#include <unordered_set>

#include "scan/facts/code_names.h"

namespace fathom {
std::map<CodePlace, uint32_t> count_api_calls(const Readings& readings, const PythonNames& names,
                                              const std::vector<ApiFacts>& api) {
  std::map<CodePlace, uint32_t> out;
  std::unordered_set<std::string_view> wanted;
  for (const ApiFacts& fact : api) {
    if (fact.kind != EntryKind::kFunction && fact.kind != EntryKind::kClass) continue;
    out.emplace(fact.at, 0);
    wanted.insert(last_part(fact.name));
  }
  if (out.empty()) return out;
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const python::PythonFile& python = readings.readings[file].python;
    std::set<std::string_view> callees;
    const auto note = [&](const std::vector<python::Call>& calls) {
      for (const python::Call& call : calls) {
        if (wanted.contains(last_part(call.callee))) callees.insert(call.callee);
      }
    };
    note(python.module_calls);
    for (const python::Function& function : python.functions) note(function.calls);
    std::set<CodePlace> called;
    for (const std::string_view callee : callees) {
      const auto meant = names.resolve(callee, file);
      if (meant && meant->file != file) called.insert(names.place_of(*meant));
    }
    for (const CodePlace& at : called) {
      if (const auto found = out.find(at); found != out.end()) ++found->second;
    }
  }
  return out;
}

}  // namespace fathom
