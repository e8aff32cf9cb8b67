#include "report/scan/ranking.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/text_parts.h"
#include "scan/files/code_purpose.h"

namespace fathom {
namespace {

// The order that a reader looks for them in.
size_t kind_rank(EntryKind kind) {
  constexpr std::array kinds = {EntryKind::kConsoleScript, EntryKind::kMain, EntryKind::kCppMain,
                                EntryKind::kHttpRoute, EntryKind::kCommand};
  const size_t at = static_cast<size_t>(std::ranges::find(kinds, kind) - kinds.begin());
  if (at < kinds.size()) return at == 2 ? 1 : at;  // the two kinds of programs are one
  return kind == EntryKind::kExample     ? 5
         : kind == EntryKind::kBenchmark ? 6
         : kind == EntryKind::kTest      ? 7
                                         : 4;
}

bool is_for_trying(EntryKind kind) { return kind_rank(kind) >= 5; }

// Files that hold kernels, launch them, or are on the way to one.
std::set<uint32_t> files_near_kernels(const CodeFacts& facts) {
  std::set<uint32_t> out;
  for (const KernelFacts& kernel : facts.kernels) {
    out.insert(kernel.at.file);
    for (const KernelLauncher& launcher : kernel.launchers) out.insert(launcher.at.file);
    for (const PathHop& hop : kernel.path) out.insert(hop.at.file);
  }
  for (const RequestPath& path : facts.request_paths) {
    if (!path.kernel) continue;
    for (const RequestHop& hop : path.hops) out.insert(hop.at.file);
  }
  return out;
}

}  // namespace

bool is_aside(const SourceFile& file) {
  const std::string_view path = file.path;
  constexpr std::array<std::string_view, 13> folders = {
      "dev",     "cmake",      "docker",       "packaging", "agents",     "legacy",     "old",
      "scratch", "deprecated", "benchmarking", "evals",     "evaluation", "build_tools"};
  return file.origin != Origin::kOwn || is_test_or_example(path) ||
         std::ranges::find(folders, path.substr(0, path.find('/'))) != folders.end();
}

std::vector<RankedEntry> ranked_entries(const CodeFacts& facts) {
  // The first way of an entry point, which stand in the order of what they reach.
  std::map<std::pair<EntryKind, std::string_view>, size_t> ways;
  for (size_t i = 0; i < facts.request_paths.size(); ++i) {
    const RequestPath& path = facts.request_paths[i];
    ways.emplace(std::pair<EntryKind, std::string_view>(path.entry_kind, path.entry), i);
  }
  std::set<uint32_t> started;  // the README starts them
  for (const StartCommand& command : facts.start_commands) {
    if (command.file) started.insert(*command.file);
  }
  std::vector<RankedEntry> out;
  for (uint32_t i = 0; i < facts.entry_points.size(); ++i) {
    const EntryPoint& entry = facts.entry_points[i];
    const SourceFile& file = facts.files[entry.at.file];
    const bool told = started.contains(entry.at.file);
    // A C++ program in a Python file is text that it writes.
    const bool is_text = entry.kind == EntryKind::kCppMain && file.language == Language::kPython;
    out.push_back(
        {i, !told && (is_for_trying(entry.kind) || entry.tries_module || is_text || is_aside(file)),
         // None that was followed is not none.
         entry.kernels_reached.value_or(0) > 0 ? entry.kernels_reached : std::nullopt});
  }
  const auto way_of = [&](const EntryPoint& entry) {
    const auto found = ways.find({entry.kind, entry.name});
    return found == ways.end() ? SIZE_MAX : found->second;
  };
  const auto order = [&](const RankedEntry& ranked) {
    const EntryPoint& entry = facts.entry_points[ranked.entry];
    // What leads to kernels comes right after what is installed.
    const bool leads = ranked.kernels.value_or(0) > 0 && entry.kind != EntryKind::kConsoleScript;
    return std::tuple(ranked.aside, !started.contains(entry.at.file),
                      leads ? 1 : 2 * kind_rank(entry.kind),
                      -static_cast<int64_t>(ranked.kernels.value_or(0)), way_of(entry),
                      std::ranges::count(facts.files[entry.at.file].path, '/'), ranked.entry);
  };
  std::ranges::sort(out, {}, order);
  return out;
}

namespace {

// What every program of the system has, and none of its own.
bool is_system_variable(const OptionFacts& option) {
  return option.kind == OptionKind::kEnvironment &&
         is_one_of(option.name,
                   {"HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "PATH", "PWD", "USER", "TMP",
                    "TEMP", "TMPDIR", "APPDATA", "LANG", "TERM", "DISPLAY"});
}

}  // namespace

std::vector<RankedOption> ranked_options(const CodeFacts& facts, OptionKind kind) {
  std::vector<std::vector<const FeatureFacts*>> affects(facts.options.size());
  for (const FeatureFacts& feature : facts.features) {
    for (const uint32_t option : feature.options) affects[option].push_back(&feature);
  }
  const std::set<uint32_t> near = files_near_kernels(facts);
  std::set<uint32_t> started;
  for (const StartCommand& command : facts.start_commands) {
    if (command.file) started.insert(*command.file);
  }
  const auto order = [&](uint32_t i) {
    const OptionFacts& option = facts.options[i];
    const bool reaches = near.contains(option.at.file) ||
                         std::ranges::any_of(option.read_at, [&](const CodePlace& p) {
                           return near.contains(p.file);
                         });
    // A name that is in a variable of the code is not known: nobody can set it.
    const bool unnamed = option.name.starts_with('{') && option.name.ends_with('}');
    const bool aside =
        unnamed || (is_aside(facts.files[option.at.file]) && !started.contains(option.at.file));
    return std::tuple(aside, is_system_variable(option), !option.in_readme,
                      affects[i].empty() && !reaches, option.help.empty(),
                      -static_cast<int64_t>(affects[i].size()),
                      -static_cast<int64_t>(option.read_at.size()), i);
  };
  std::vector<std::pair<decltype(order(0)), uint32_t>> sorted;
  for (uint32_t i = 0; i < facts.options.size(); ++i) {
    if (facts.options[i].kind == kind) sorted.emplace_back(order(i), i);
  }
  std::ranges::sort(sorted);
  std::vector<RankedOption> out;
  std::map<std::string_view, size_t> seen;
  for (const auto& [key, i] : sorted) {
    const auto [at, is_new] = seen.emplace(facts.options[i].name, out.size());
    if (is_new) {
      const bool environment = facts.options[i].kind == OptionKind::kEnvironment;
      const size_t places = environment ? std::max<size_t>(1, facts.options[i].read_at.size()) : 1;
      out.push_back({i, static_cast<uint32_t>(places), std::get<0>(key), affects[i]});
    } else {
      ++out[at->second].places;
    }
  }
  return out;
}

std::vector<NameCount> count_by_folder(const CodeFacts& facts, const std::vector<CodePlace>& places,
                                       size_t depth) {
  std::map<std::string, size_t> counts;
  for (const CodePlace& place : places) {
    const std::string& path = facts.files[place.file].path;
    size_t end = 0;
    for (size_t i = 0; i < depth; ++i) {
      const size_t slash = path.find('/', end);
      if (slash == std::string::npos) break;
      end = slash + 1;
    }
    ++counts[end == 0 ? "(root)" : path.substr(0, end)];
  }
  return by_count(counts);
}

}  // namespace fathom
