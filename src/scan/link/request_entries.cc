#include "scan/link/request_entries.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "scan/facts/code_names.h"
#include "scan/files/code_purpose.h"
#include "scan/link/api_calls.h"
#include "scan/link/entry_points.h"
#include "scan/link/request_words.h"

namespace fathom {
namespace {

// Programs of the README come before others, after servers.
constexpr int kProgramRank = 1;
constexpr size_t kMaxEntries = 120;  // entry points that are followed

class EntryFinder {
 public:
  EntryFinder(const Readings& readings, const PythonTypes& types, const PythonNames& names,
              const CodeFacts& facts, const std::vector<DocumentedCall>& documented)
      : readings_(readings),
        types_(types),
        names_(names),
        facts_(facts),
        documented_(documented),
        calls_(count_api_calls(readings, names, facts.api)) {
    for (const StartCommand& command : facts.start_commands) {
      if (command.file) started_.emplace(*command.file, command.at);
    }
  }

  std::vector<RequestEntry> run() {
    std::vector<RequestEntry> out;
    for (const EntryPoint& entry : facts_.entry_points) add_program(entry, out);
    add_started(out);
    add_documented(out);
    add_api(out);
    // Examples of the README stand in its order; of other documents, the most called first.
    const auto order = [](const RequestEntry& e) {
      const bool by_use = e.evidence != EntryEvidence::kReadme;
      return std::tuple(e.rank, e.evidence, by_use ? UINT32_MAX - e.called_in : 0);
    };
    std::stable_sort(out.begin(), out.end(), [&](const RequestEntry& a, const RequestEntry& b) {
      return order(a) < order(b);
    });
    if (out.size() > kMaxEntries) out.resize(kMaxEntries);
    return out;
  }

 private:
  void add_program(const EntryPoint& entry, std::vector<RequestEntry>& out) {
    const uint32_t file = entry.at.file;
    if (entry.kind == EntryKind::kHttpRoute) {
      const bool is_aside = is_test_or_example(readings_.files[file].path);
      const int rank = entry.name.starts_with("POST") && !is_aside ? 0 : 5;
      if (const auto start = python_function(file, entry.target))
        out.push_back({entry.kind, entry.name, *start, rank, "it receives requests"});
    } else if (entry.kind == EntryKind::kConsoleScript) {
      const size_t colon = entry.target.find(':');
      if (colon == std::string::npos) return;
      const auto module = names_.find_module(entry.target.substr(0, colon), file);
      if (!module) return;
      if (const auto start = python_function(*module, entry.target.substr(colon + 1)))
        out.push_back(
            {entry.kind, entry.name, *start, kInstalledRank, "the package installs this program"});
    } else if (started_.contains(file)) {
      add_readme_program(entry, out);
    } else if (entry.tries_module || is_test_or_example(readings_.files[file].path)) {
      return;
    } else if (entry.kind == EntryKind::kMain) {
      out.push_back({entry.kind,
                     entry.name,
                     {false, file, kPythonModuleLevel},
                     4,
                     "it is a program of this repository"});
    } else if (entry.kind == EntryKind::kCppMain) {
      add_cpp_main(entry, EntryEvidence::kExported, "it is a program of this repository", out);
    }
  }

  // What the README starts is the product, whichever folder it lies in.
  std::string started_text(uint32_t file) const {
    const CodePlace& at = started_.find(file)->second;
    const bool readme = facts_.readme && facts_.readme->file == at.file;
    return (readme ? "the README starts it (" : "a guide starts it (") +
           readings_.files[at.file].path + ":" + std::to_string(at.line) + ")";
  }

  void add_readme_program(const EntryPoint& entry, std::vector<RequestEntry>& out) {
    const uint32_t file = entry.at.file;
    if (entry.target == "main")
      return add_cpp_main(entry, EntryEvidence::kReadme, started_text(file), out);
    if (readings_.files[file].language != Language::kPython || !followed_.insert(file).second)
      return;
    out.push_back(
        {EntryKind::kMain,
         entry.name,
         {false, file, kPythonModuleLevel},
         // A benchmark of a library comes after its functions.
         is_test_or_example(readings_.files[file].path) ? kFunctionRank + 2 : kProgramRank,
         started_text(file),
         EntryEvidence::kReadme});
  }

  // Scripts without a main guard are programs if the README runs them.
  void add_started(std::vector<RequestEntry>& out) {
    for (const auto& [file, at] : started_) {
      if (readings_.files[file].language != Language::kPython || !followed_.insert(file).second)
        continue;
      out.push_back(
          {EntryKind::kMain,
           readings_.files[file].path,
           {false, file, kPythonModuleLevel},
           is_test_or_example(readings_.files[file].path) ? kFunctionRank + 2 : kProgramRank,
           started_text(file),
           EntryEvidence::kReadme});
    }
  }

  std::optional<FunctionNode> python_function(uint32_t file, std::string_view name) const {
    const auto& functions = readings_.readings[file].python.functions;
    std::optional<FunctionNode> signature;
    for (uint32_t i = 0; i < functions.size(); ++i) {
      if (qualified_name(functions[i]) != name) continue;
      if (!is_overload(functions[i])) return FunctionNode{false, file, i};
      signature = FunctionNode{false, file, i};
    }
    return signature;
  }

  void add_cpp_main(const EntryPoint& entry, EntryEvidence evidence, const std::string& why,
                    std::vector<RequestEntry>& out) const {
    // A program inside a string is written out to be built, and not the repository's own.
    if (readings_.files[entry.at.file].language == Language::kPython) return;
    const auto& functions = readings_.readings[entry.at.file].cpp.functions;
    for (uint32_t i = 0; i < functions.size(); ++i) {
      if (is_main(functions[i].name) && functions[i].line_name == entry.at.line)
        out.push_back(
            {entry.kind, entry.name, {true, entry.at.file, i}, kProgramRank, why, evidence});
    }
  }

  // What the examples of the documentation call, of this repository.
  void add_documented(std::vector<RequestEntry>& out) {
    for (const DocumentedCall& call : documented_) {
      for (size_t dot = call.name.rfind('.'); dot != std::string::npos && dot > 0;
           dot = call.name.rfind('.', dot - 1)) {
        const auto module = names_.find_module(call.name.substr(0, dot), call.at.file);
        if (!module) continue;
        add_documented(call, *module, call.name.substr(dot + 1), out);
        break;
      }
    }
  }

  void add_documented(const DocumentedCall& call, uint32_t module, std::string_view name,
                      std::vector<RequestEntry>& out) {
    const auto found = names_.resolve(name.substr(0, name.find('.')), module);
    if (!found || is_test_or_example(readings_.files[found->file].path)) return;
    RequestEntry entry;
    entry.rank = kFunctionRank;
    entry.evidence = call.from_readme ? EntryEvidence::kReadme : EntryEvidence::kDocumentation;
    entry.why =
        (call.from_readme ? "a README example calls it (" : "a documentation example calls it (") +
        readings_.files[call.at.file].path + ":" + std::to_string(call.at.line) + ")";
    entry.name = call.name;
    if (found->kind == PythonName::Kind::kFunction) {
      if (holds(name, '.')) return;  // function.attribute(…)
      entry.kind = EntryKind::kFunction;
      entry.start = {false, found->file, found->index};
      entry.called_in = called_in(found->file, function_line(entry.start));
      push(std::move(entry), out);
    } else if (found->kind == PythonName::Kind::kClass) {
      const size_t dot = name.find('.');
      const std::string_view method =
          dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
      if (dot != std::string_view::npos) entry.name.resize(entry.name.size() - method.size() - 1);
      add_class(std::move(entry), found->ref(), method, out);
    }
  }

  // Public functions, and the methods of public classes that do the work.
  void add_api(std::vector<RequestEntry>& out) {
    for (const ApiFacts& api : facts_.api) {
      if (api.kind != EntryKind::kFunction && api.kind != EntryKind::kClass) continue;
      const python::PythonFile& python = readings_.readings[api.at.file].python;
      RequestEntry entry;
      entry.rank = kFunctionRank;
      entry.kind = api.kind;
      entry.name = api.name;
      entry.called_in = called_in(api.at.file, api.at.line);
      entry.why = "the package exports it";
      if (has_example(api, python)) {
        entry.evidence = EntryEvidence::kDocumentation;
        entry.why += ", its docstring has a usage example";
      }
      if (entry.called_in > 0)
        entry.why += "; " + std::to_string(entry.called_in) + " file" +
                     (entry.called_in == 1 ? "" : "s") + " of the repository call" +
                     (entry.called_in == 1 ? "s" : "") + " it";
      if (api.kind == EntryKind::kFunction) {
        for (uint32_t i = 0; i < python.functions.size(); ++i) {
          const python::Function& f = python.functions[i];
          if (!f.scope.empty() || f.line_name != api.at.line) continue;
          entry.start = {false, api.at.file, i};
          push(std::move(entry), out);
          break;
        }
        continue;
      }
      for (uint32_t i = 0; i < python.classes.size(); ++i) {
        if (python.classes[i].line_name == api.at.line) {
          add_class(std::move(entry), {api.at.file, i}, "", out);
          break;
        }
      }
    }
  }

  static bool has_example(const ApiFacts& api, const python::PythonFile& python) {
    const auto is_it = [&](const auto& definition) {
      return definition.line_name == api.at.line && definition.doc_has_example;
    };
    return api.kind == EntryKind::kFunction
               ? std::any_of(python.functions.begin(), python.functions.end(), is_it)
               : std::any_of(python.classes.begin(), python.classes.end(), is_it);
  }

  // The method that users call: the one that is named, unless it only prepares another's work.
  void add_class(RequestEntry entry, const PythonRef& of, std::string_view named,
                 std::vector<RequestEntry>& out) {
    entry.called_in = called_in(of.file, types_.classes().type(of).line_name);
    std::vector<std::string_view> methods = request_words(RequestRole::kWork);
    const bool plans = is_request_word(RequestRole::kPrepares, named);
    if (!named.empty() && !plans) methods.insert(methods.begin(), named);
    for (const std::string_view method : methods) {
      const auto found = types_.classes().find_method(of, method);
      if (!found || is_test_or_example(readings_.files[found->file].path)) continue;
      entry.kind = EntryKind::kMethod;
      entry.name += "." + std::string(method);
      entry.start = {false, found->file, found->index};
      if (is_request_word(RequestRole::kLeads, method)) entry.rank = 1;
      if (const std::string_view plans_it = preparing_method(method); !plans_it.empty()) {
        if (const auto plan = types_.classes().find_method(of, plans_it))
          entry.plan = FunctionNode{false, plan->file, plan->index};
      }
      return push(std::move(entry), out);
    }
  }

  void push(RequestEntry entry, std::vector<RequestEntry>& out) {
    if (seen_.insert(entry.start).second) out.push_back(std::move(entry));
  }

  uint32_t function_line(const FunctionNode& node) const {
    return types_.classes().function({node.file, node.index}).line_name;
  }

  uint32_t called_in(uint32_t file, uint32_t line) const {
    return value_or_empty(calls_, {file, line});
  }

  const Readings& readings_;
  const PythonTypes& types_;
  const PythonNames& names_;
  const CodeFacts& facts_;
  const std::vector<DocumentedCall>& documented_;
  const std::map<CodePlace, uint32_t> calls_;
  std::map<uint32_t, CodePlace> started_;  // files that the README runs, and where it does
  std::set<uint32_t> followed_;            // of those, Python programs that are entries
  std::set<FunctionNode> seen_;
};

}  // namespace

std::vector<RequestEntry> find_request_entries(const Readings& readings, const PythonTypes& types,
                                               const PythonNames& names, const CodeFacts& facts,
                                               const std::vector<DocumentedCall>& documented) {
  return EntryFinder(readings, types, names, facts, documented).run();
}

}  // namespace fathom
