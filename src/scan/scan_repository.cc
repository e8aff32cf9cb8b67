#include "scan/scan_repository.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "scan/docs/doc_claims.h"
#include "scan/docs/doc_examples.h"
#include "scan/docs/readme.h"
#include "scan/docs/readme_mentions.h"
#include "scan/docs/start_commands.h"
#include "scan/docs/usage_claims.h"
#include "scan/facts/kernel_identity.h"
#include "scan/features/link_features.h"
#include "scan/files/repository.h"
#include "scan/files/source_text.h"
#include "scan/kernels/prebuilt.h"
#include "scan/link/api_surface.h"
#include "scan/link/entry_points.h"
#include "scan/link/evidence.h"
#include "scan/link/host_functions.h"
#include "scan/link/jit_values.h"
#include "scan/link/kernels.h"
#include "scan/link/module_graph.h"
#include "scan/link/options.h"
#include "scan/link/request_path.h"
#include "scan/link/uses.h"
#include "scan/manifests/build_switches.h"
#include "scan/manifests/dependencies.h"
#include "scan/manifests/yaml_keys.h"
#include "scan/read_files.h"

namespace fathom {
namespace {

// Files and what project files declare; reading code comes after.
CodeFacts declared_facts(const Repository& repository) {
  CodeFacts facts;
  facts.repository = repository.name;
  facts.notes = repository.notes;
  facts.readme = find_readme(repository);
  find_dependencies(repository, facts);
  facts.build_switches = find_build_switches(repository);
  return facts;
}

// The way down from Python to the first of the kernel's launchers that has one.
std::vector<PathHop> path_to(const KernelFacts& kernel, const CallerPaths& paths) {
  std::vector<PathHop> best;
  for (const KernelLauncher& launcher : kernel.launchers) {
    std::vector<PathHop> path = paths.path_to(launcher.at);
    if (!path.empty() && path.front().kind == PathHopKind::kPython) return path;
    if (best.empty()) best = std::move(path);
  }
  return best;
}

// Hydra's options are the keys of the file that the program names.
void add_hydra_keys(const Repository& repository, const Readings& readings, CodeFacts& facts) {
  constexpr uint64_t kLargest = 1u << 20;
  std::set<uint32_t> seen;
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    if (readings.files[file].origin != Origin::kOwn) continue;
    for (const python::ParsedClass& parsed : readings.readings[file].python.parsed_classes) {
      if (parsed.via != "hydra.main") continue;
      const std::string& path = readings.files[file].path;
      const size_t slash = path.rfind('/');
      std::string yaml = slash == std::string::npos ? "" : path.substr(0, slash + 1);
      yaml += parsed.name + (parsed.name.ends_with(".yaml") ? "" : ".yaml");
      yaml = std::filesystem::path(yaml).lexically_normal().string();
      const auto found = std::ranges::lower_bound(readings.files, yaml, {}, &SourceFile::path);
      if (found == readings.files.end() || found->path != yaml || found->size > kLargest) continue;
      const auto index = static_cast<uint32_t>(found - readings.files.begin());
      if (!seen.insert(index).second) continue;
      const Result<std::string> text = read_source_text(repository.root / yaml);
      if (!text.ok()) continue;
      for (const YamlKey& key : yaml_keys(text.value())) {
        OptionFacts option;
        option.kind = OptionKind::kConfig;
        option.name = key.name;
        option.default_value = key.value;
        option.help = key.comment;
        option.at = {index, key.line};
        facts.options.push_back(std::move(option));
      }
    }
  }
  std::ranges::stable_sort(facts.options, [](const OptionFacts& a, const OptionFacts& b) {
    return std::tie(a.at, a.kind, a.name) < std::tie(b.at, b.kind, b.name);
  });
}

std::string docstring_of(const KernelFacts& kernel, const Readings& readings) {
  for (const python::Function& function : readings.readings[kernel.at.file].python.functions) {
    if (function.line_name == kernel.line_name) return function.doc;
  }
  return "";
}

// Components and features, which take everything else that is known, and what the README claims.
void recognise_parts(const Repository& repository, const Readings& readings, CodeFacts& facts) {
  std::vector<FileSignals> signals;
  for (const FileReading& reading : readings.readings) signals.push_back(reading.signals);
  const ReadmeMentions mentions = find_mentions(repository, facts);
  RecognisedParts parts = link_features(facts, signals, FeatureRules::built_in(), mentions.known);
  facts.components = std::move(parts.components);
  facts.features = std::move(parts.features);
  facts.readme_claims = std::move(parts.claims);
  for (const auto& [line, text] : mentions.unknown) {
    ReadmeClaim& claim = facts.readme_claims.emplace_back();
    claim.said = text;
    claim.doc.line = line;
  }
  for (ReadmeClaim& claim : facts.readme_claims) claim.doc.file = facts.readme->file;
}

// Kernel files often end with a main guard that tries what they define.
void mark_trials(CodeFacts& facts) {
  std::set<uint32_t> of_kernels;
  for (const KernelFacts& kernel : facts.kernels) {
    of_kernels.insert(kernel.at.file);
    for (const KernelLauncher& launcher : kernel.launchers) of_kernels.insert(launcher.at.file);
  }
  std::set<uint32_t> started;  // as the documentation says
  for (const StartCommand& command : facts.start_commands) {
    if (command.file) started.insert(*command.file);
  }
  for (EntryPoint& entry : facts.entry_points) {
    const uint32_t file = entry.at.file;
    entry.tries_module = entry.kind == EntryKind::kMain && of_kernels.contains(file) &&
                         !started.contains(file) &&
                         (facts.modules.imported.contains(file) || !started.empty());
  }
}

// How the files hang together, from the facts about kernels and entry points.
void link_structure(const Repository& repository, const Readings& readings,
                    const SymbolIndex& index, const PythonNames& names, const PythonTypes& types,
                    const CodeGraph& graph, CodeFacts& facts) {
  facts.modules = link_modules(readings, names, index.includes(), facts.kernels);
  mark_trials(facts);
  facts.api = link_api(readings, names, facts.entry_points);
  RequestWays ways = find_request_paths(readings, names, types, graph, facts,
                                        find_doc_examples(repository, facts));
  facts.request_paths = std::move(ways.paths);
  for (EntryPoint& entry : facts.entry_points) {
    const auto found = ways.reached.find({entry.kind, entry.name});
    if (found != ways.reached.end()) entry.kernels_reached = found->second;
  }
}

}  // namespace

Result<CodeFacts> scan_repository(const std::filesystem::path& root, const ScanOptions& options) {
  return scan_repository(TRY(list_repository(root, options.threads)), options);
}

CodeFacts scan_repository(const Repository& repository, const ScanOptions& options) {
  CodeFacts facts = declared_facts(repository);
  const Readings readings = read_files(repository, options.threads, options.progress, facts.notes);
  const std::vector<FileCode> code = code_of(readings);
  const IncludeGraph includes(includes_of(readings));
  const SymbolIndex index(code, includes);
  const ClassTree classes(index);
  const FunctionPlaces places(code);
  const PythonNames names(code);
  const JitModules jit(readings);
  const PythonTypes types(readings, names, jit);
  // One after the other: the index and the names keep what they were asked, without locks.
  Kernels kernels = link_kernels(readings, index, places, names, types);
  link_evidence(readings, index, classes, places, kernels, facts.calls);
  facts.kernels = std::move(kernels.facts);
  const CodeGraph graph(readings, names, types, index, classes, places, facts.dependencies);
  const CallerPaths paths(readings, graph);
  facts.options = link_options(readings, names);
  link_dependency_uses(readings, names, facts.dependencies);
  for (EntryPoint& entry : link_entry_points(readings))
    facts.entry_points.push_back(std::move(entry));
  for (KernelFacts& kernel : facts.kernels) {
    kernel.profiler_name = profiler_pattern(kernel);
    kernel.doc = docstring_of(kernel, readings);
    kernel.path = path_to(kernel, paths);
    if (!kernel.path.empty()) kernel.callers = paths.callers_of(kernel.path.front());
    if (kernel.callers.size() == 1) kernel.way_up = paths.way_up_from(kernel.callers.front());
    link_jit_values(readings, kernel);
  }
  facts.host_functions = link_host_functions(readings, paths);
  facts.files = readings.files;
  facts.prebuilt = count_prebuilt(facts.files);
  add_hydra_keys(repository, readings, facts);
  facts.start_commands = find_start_commands(repository, facts);
  recognise_parts(repository, readings, facts);
  link_structure(repository, readings, index, names, types, graph, facts);
  note_readme_names(repository, facts);
  facts.doc_claims = find_doc_claims(repository, facts, find_usage_claims(readings));
  return facts;
}

}  // namespace fathom
