#include "plan/program_sources.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/ascii.h"
#include "scan/docs/doc_programs.h"
#include "scan/docs/doc_text.h"
#include "scan/features/feature_rules.h"
#include "scan/files/source_text.h"
#include "scan/manifests/build_targets.h"
#include "scan/python/python_file.h"

namespace fathom {
namespace {

constexpr uint64_t kMaxPlanFileBytes = 1u << 20;
constexpr size_t kMaxDocuments = 40, kMaxDocumentedCommands = 400;

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// Folders that Python imports as top-level packages: those that `-m` and the API name, and the
// outermost with an __init__.py.
std::set<std::string> top_packages(const CodeFacts& facts) {
  std::set<std::string> tops;
  const auto add = [&](uint32_t file, std::string_view name) {
    const std::string first(name.substr(0, name.find('.')));
    const std::string& path = facts.files[file].path;
    if (first.empty()) return;
    if (path.starts_with(first + "/")) tops.insert(first);
    const size_t at = path.find("/" + first + "/");
    if (at != std::string::npos) tops.insert(path.substr(0, at + 1 + first.size()));
  };
  for (const ApiFacts& api : facts.api) {
    const bool python = api.kind == EntryKind::kFunction || api.kind == EntryKind::kClass ||
                        api.kind == EntryKind::kMethod;
    if (python) add(api.at.file, api.name);
  }
  for (const EntryPoint& entry : facts.entry_points) {
    const size_t module = entry.command.find(" -m ");
    if (module != std::string::npos) add(entry.at.file, entry.command.substr(module + 4));
  }
  return tops;
}

// The name that Python imports a file by.
std::string module_name(std::string_view path, const std::set<std::string_view>& packages,
                        const std::set<std::string>& tops) {
  std::string_view root = folder_of(path);
  bool known = false;
  for (std::string_view folder = root; !folder.empty(); folder = folder_of(folder)) {
    if (!tops.contains(std::string(folder))) continue;
    root = folder_of(folder);
    known = true;
  }
  while (!known && !root.empty() && packages.contains(root)) root = folder_of(root);
  std::string_view rest = root.empty() ? path : path.substr(root.size() + 1);
  if (!rest.ends_with(".py")) return "";
  rest.remove_suffix(3);
  if (rest.ends_with("/__init__")) rest.remove_suffix(9);
  if (rest.ends_with("__main__")) return "";  // runs under another name
  std::string name(rest);
  std::ranges::replace(name, '/', '.');
  const auto fits = [](char c) { return is_word_character(c) || c == '.'; };
  return std::ranges::all_of(name, fits) ? name : "";
}

void add_functions(const python::PythonFile& python, uint32_t file, const std::string& module,
                   std::vector<ProbePlace>& out) {
  if (module.empty()) return;
  std::set<std::string> functions;
  for (const python::Function& function : python.functions)
    functions.insert(function.scope.empty() ? function.name : function.scope + "." + function.name);
  for (const python::Function& function : python.functions) {
    // What is defined inside of a function has no name from outside.
    if (functions.contains(function.scope)) continue;
    const bool compiled = std::ranges::any_of(function.decorators, [](const std::string& one) {
      return one.find("jit") != std::string::npos || one.find("overload") != std::string::npos ||
             one.find("property") != std::string::npos || one.find("abstract") != std::string::npos;
    });
    if (compiled) continue;
    ProbePlace place;
    place.probe =
        module + ":" + (function.scope.empty() ? "" : function.scope + ".") + function.name;
    place.scope = fold_name(function.scope);
    place.function = fold_name(function.name);
    place.at = {file, function.line_name};
    out.push_back(std::move(place));
  }
}

// Documents that introduce: READMEs, and those at the root, in docs/ and in folders below the root.
bool introduces(std::string_view path) {
  const auto depth = std::ranges::count(path, '/');
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return depth == 0 || (depth <= 3 && name.starts_with("README")) || (depth == 1);
}

std::string joined_path(std::string_view folder, std::string_view path) {
  std::vector<std::string_view> parts;
  for (const std::string_view text : {folder, path}) {
    size_t begin = 0;
    while (begin <= text.size()) {
      const size_t end = std::min(text.find('/', begin), text.size());
      const std::string_view part = text.substr(begin, end - begin);
      if (part == ".." && !parts.empty())
        parts.pop_back();
      else if (!part.empty() && part != "." && part != "..")
        parts.push_back(part);
      begin = end + 1;
    }
  }
  std::string out;
  for (const std::string_view part : parts) (out += out.empty() ? "" : "/") += part;
  return out;
}

// The programs that CMake and make build, with the commands for it.
void add_built_programs(const std::filesystem::path& root, const CodeFacts& facts,
                        ProgramSources& out) {
  constexpr size_t kMostBuildFiles = 120, kMostBuilt = 2000;
  std::map<std::string_view, uint32_t> by_path;
  std::map<std::string_view, std::vector<std::string>> by_folder;
  std::set<std::string_view> cmake_folders;
  for (uint32_t i = 0; i < facts.files.size(); ++i) {
    const std::string& path = facts.files[i].path;
    by_path.emplace(path, i);
    by_folder[folder_of(path)].push_back(path.substr(path.rfind('/') + 1));
    if (path == "CMakeLists.txt" || path.ends_with("/CMakeLists.txt"))
      cmake_folders.insert(folder_of(path));
  }
  size_t read = 0;
  for (uint32_t i = 0; i < facts.files.size(); ++i) {
    const SourceFile& file = facts.files[i];
    const std::string_view folder = folder_of(file.path);
    const bool is_cmake = cmake_folders.contains(folder) && file.path.ends_with("CMakeLists.txt");
    const bool is_make = file.language == Language::kMake && !file.path.ends_with(".mk");
    if ((!is_cmake && !is_make) || file.origin != Origin::kOwn || read == kMostBuildFiles) continue;
    const Result<std::string> text = read_source_text(root / file.path, kMaxPlanFileBytes);
    if (!text.ok()) continue;
    ++read;
    // The outermost folder with a CMakeLists.txt is what cmake is called with.
    std::string_view top = folder;
    for (std::string_view at = folder; !at.empty();) {
      at = folder_of(at);
      if (cmake_folders.contains(at)) top = at;
    }
    const std::string build_folder = joined_path(top, "build");
    for (const BuildTarget& target :
         is_cmake ? cmake_targets(text.value()) : make_targets(text.value(), by_folder[folder])) {
      if (out.built.size() == kMostBuilt) return;
      BuiltProgram built;
      built.at = {i, target.line};
      for (const std::string& source : target.sources) {
        const auto found = by_path.find(joined_path(folder, source));
        if (found != by_path.end()) built.sources.push_back(found->second);
      }
      if (built.sources.empty()) continue;
      if (is_make) {
        built.folder = folder;
        built.program = "./" + target.output;
        built.build = folder.empty() ? "make " + target.name
                                     : "make -C " + std::string(folder) + " " + target.name;
      } else {
        const std::string below(
            folder.substr(std::min(top.size() + (top.empty() ? 0 : 1), folder.size())));
        built.program = target.output.starts_with('/')
                            ? joined_path(build_folder, target.output)
                            : joined_path(joined_path(build_folder, below), target.output);
        built.build = "cmake -S " + (top.empty() ? std::string(".") : std::string(top)) + " -B " +
                      build_folder + " -DCMAKE_BUILD_TYPE=Release && cmake --build " +
                      build_folder + " -j" +
                      (target.name.empty() ? "" : " --target " + target.name);
      }
      out.built.push_back(std::move(built));
    }
  }
}

}  // namespace

std::vector<DocumentedCommand> documented_commands(std::string_view text, bool markdown) {
  std::vector<DocumentedCommand> out;
  for (const DocLine& line : read_doc(text, markdown)) {
    if (!line.code || line.text.size() > 2000) continue;
    // A pipe or a redirection is no argument list; what is behind && is a command of its own.
    if (line.text.find_first_of("`$<>&|;\\") != std::string::npos) continue;
    for (const std::vector<std::string>& words : shell_commands(line.text)) {
      DocumentedCommand command;
      command.at.line = line.line;
      size_t begin = 0;
      for (; begin < words.size(); ++begin) {
        const size_t equals = words[begin].find('=');
        const bool assigns = equals != std::string::npos && equals > 0 && words[begin][0] != '-' &&
                             words[begin].find_first_of("/.") > equals;
        if (!assigns) break;
        command.variables.emplace_back(words[begin].substr(0, equals),
                                       words[begin].substr(equals + 1));
      }
      command.words.assign(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end());
      const bool elided = std::ranges::any_of(command.words, [](const std::string& word) {
        return word.find("...") != std::string::npos || word.find("…") != std::string::npos ||
               word.starts_with('[') || word.starts_with("install") ||
               word.starts_with("download") || word == "--help" || word == "--version" ||
               word == "-h" || word == "config" || word.ends_with("status") ||
               word.ends_with("-info") || word == "info" || word.starts_with("export-") ||
               word == "env" || word == "doctor" || word.starts_with("show") ||
               word.starts_with("list") || word.starts_with("clear");
      });
      if (!elided && !command.words.empty()) out.push_back(std::move(command));
    }
  }
  return out;
}

ProgramSources read_program_sources(const std::filesystem::path& root, const CodeFacts& facts,
                                    const std::vector<uint32_t>& files) {
  ProgramSources out;
  std::set<std::string_view> packages;
  for (const SourceFile& file : facts.files) {
    if (file.path.ends_with("/__init__.py")) packages.insert(folder_of(file.path));
  }
  const std::set<std::string> tops = top_packages(facts);
  size_t read = 0;
  for (const uint32_t position : files) {
    const SourceFile& file = facts.files[position];
    const bool is_python = file.language == Language::kPython;
    const bool is_cpp = file.language == Language::kCpp || file.language == Language::kCuda ||
                        file.language == Language::kHip || file.language == Language::kMusa;
    if ((!is_python && !is_cpp) || file.origin != Origin::kOwn || !file.skipped.empty()) continue;
    if (read++ == kMaxPlanFiles) break;
    const Result<std::string> text = read_source_text(root / file.path, kMaxPlanFileBytes);
    if (!text.ok()) continue;
    if (is_python && !out.names_gpu)
      out.names_gpu = text.value().find(".cuda") != std::string::npos ||
                      text.value().find("\"cuda") != std::string::npos ||
                      text.value().find("'cuda") != std::string::npos;
    std::vector<LogLine> lines =
        is_python ? python_log_lines(text.value()) : cpp_log_lines(text.value());
    for (LogLine& line : lines) {
      line.at.file = position;
      out.logs.push_back(std::move(line));
    }
    if (is_python)
      add_functions(python::read_python(text.value()), position,
                    module_name(file.path, packages, tops), out.functions);
  }
  add_built_programs(root, facts, out);
  const DocPrograms programs(root.string(), facts);
  size_t documents = 0;
  for (uint32_t i = 0; i < facts.files.size() && documents < kMaxDocuments; ++i) {
    const SourceFile& file = facts.files[i];
    const bool markdown = file.language == Language::kMarkdown;
    if ((!markdown && file.language != Language::kRestructuredText) || !introduces(file.path) ||
        file.origin != Origin::kOwn)
      continue;
    ++documents;
    const Result<std::string> text = read_source_text(root / file.path, kMaxPlanFileBytes);
    if (!text.ok()) continue;
    for (DocumentedCommand& command : documented_commands(text.value(), markdown)) {
      if (out.commands.size() == kMaxDocumentedCommands) break;
      if (!programs.own_program(command.words, folder_of(file.path))) continue;
      command.at.file = i;
      out.commands.push_back(std::move(command));
    }
  }
  return out;
}

}  // namespace fathom
