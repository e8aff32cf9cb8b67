#include "scan/link/request_entries.h"

#include <algorithm>
#include <tuple>

#include "scan/link/code_purpose.h"
#include "scan/link/python_types.h"

namespace fathom {
namespace {

constexpr size_t kMaxCandidates = 120;  // entry points that are followed

class EntryFinder {
 public:
  EntryFinder(const Readings& readings, const PythonNames& names, const CodeFacts& facts)
      : readings_(readings), names_(names), facts_(facts) {}

  std::vector<RequestEntry> run() const {
    std::vector<RequestEntry> out;
    for (const EntryPoint& entry : facts_.entry_points) {
      const uint32_t file = entry.at.file;
      if (entry.kind == "http route") {
        const int rank = entry.name.starts_with("POST") ? 0 : 5;
        if (const auto start = python_function(file, entry.target))
          out.push_back({entry.kind, entry.name, *start, rank, 0});
      } else if (entry.kind == "console script") {
        const size_t colon = entry.target.find(':');
        if (colon == std::string::npos) continue;
        const auto module = names_.find_module(entry.target.substr(0, colon), file);
        if (!module) continue;
        if (const auto start = python_function(*module, entry.target.substr(colon + 1)))
          out.push_back({entry.kind, entry.name, *start, 3, 0});
      } else if (is_test_or_example(readings_.files[file].path)) {
        continue;
      } else if (entry.kind == "main") {
        out.push_back({entry.kind, entry.name, {false, file, PythonTypes::kModuleLevel}, 4, 0});
      } else if (entry.kind == "c++ main") {
        add_cpp_main(entry, out);
      }
    }
    add_api(out);
    std::stable_sort(out.begin(), out.end(), [](const RequestEntry& a, const RequestEntry& b) {
      return std::tuple(a.rank, b.used_in) < std::tuple(b.rank, a.used_in);
    });
    if (out.size() > kMaxCandidates) out.resize(kMaxCandidates);
    return out;
  }

 private:
  std::optional<RequestNode> python_function(uint32_t file, std::string_view name) const {
    const auto& functions = readings_.readings[file].python.functions;
    for (uint32_t i = 0; i < functions.size(); ++i) {
      if (qualified_name(functions[i]) == name) return RequestNode{false, file, i};
    }
    return std::nullopt;
  }

  void add_cpp_main(const EntryPoint& entry, std::vector<RequestEntry>& out) const {
    // A program inside a string is written out to be built, and not the repository's own.
    if (readings_.files[entry.at.file].language == Language::kPython) return;
    const auto& functions = readings_.readings[entry.at.file].cpp.functions;
    for (uint32_t i = 0; i < functions.size(); ++i) {
      if (functions[i].name == "main" && functions[i].line_name == entry.at.line)
        out.push_back({entry.kind, entry.name, {true, entry.at.file, i}, 1, 0});
    }
  }

  // Public functions, and the methods of public classes that do the work.
  void add_api(std::vector<RequestEntry>& out) const {
    for (const ApiFacts& api : facts_.api) {
      const python::PythonFile& python = readings_.readings[api.at.file].python;
      for (uint32_t i = 0; i < python.functions.size(); ++i) {
        const python::Function& f = python.functions[i];
        if (api.kind == "function" && f.scope.empty() && f.line_name == api.at.line)
          out.push_back(
              {"function", api.name, {false, api.at.file, i}, kFunctionRank, api.used_in});
      }
      if (api.kind != "class") continue;
      for (const python::Class& c : python.classes) {
        if (c.line_name != api.at.line) continue;
        for (const std::string_view method : {"generate", "run", "forward", "__call__"}) {
          const auto start = python_function(api.at.file, c.name + "." + std::string(method));
          if (!start) continue;
          out.push_back({"method", api.name + "." + std::string(method), *start,
                         method == "generate" ? 1 : kFunctionRank, api.used_in});
          break;
        }
      }
    }
  }

  const Readings& readings_;
  const PythonNames& names_;
  const CodeFacts& facts_;
};

}  // namespace

std::vector<RequestEntry> find_request_entries(const Readings& readings, const PythonNames& names,
                                               const CodeFacts& facts) {
  return EntryFinder(readings, names, facts).run();
}

}  // namespace fathom
