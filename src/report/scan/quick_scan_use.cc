#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/count_text.h"
#include "base/screen_text.h"
#include "report/markdown.h"
#include "report/scan/inventory_pages.h"
#include "report/scan/quick_scan.h"
#include "report/scan/ranking.h"
#include "report/scan/scan_counts.h"
#include "scan/facts/fact_names.h"

namespace fathom {
namespace {

constexpr size_t kEntries = 14, kEntriesOfKind = 4, kFoldersShown = 5, kOptionsOfKind = 5,
                 kDependencies = 20, kGroups = 8;

// "`tests/attention/` 98, `tests/moe/` 60 and 12 more folders"
std::string folders_text(const CodeFacts& facts, const std::vector<CodePlace>& places,
                         size_t depth) {
  const std::vector<NameCount> folders = count_by_folder(facts, places, depth);
  std::string out;
  for (size_t i = 0; i < std::min(folders.size(), kFoldersShown); ++i) {
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", md_code(folders[i].name),
                       number_text(folders[i].count));
  }
  if (folders.size() > kFoldersShown) {
    out += fmt::format(" and {}",
                       counted(folders.size() - kFoldersShown, "more folder", "more folders"));
  }
  return out;
}

std::string option_meaning(const CodeFacts& facts, const RankedOption& ranked) {
  const OptionFacts& option = facts.options[ranked.option];
  if (!option.help.empty()) return md_prose_cell(shortened(option.help, 60));
  if (ranked.affects.empty()) return "";
  return fmt::format(
      "affects {}{}", ranked.affects[0]->title,
      ranked.affects.size() > 1 ? fmt::format(" and {} more", ranked.affects.size() - 1) : "");
}

// "3 tests", "1 C++ program": in the middle of a line only names keep their capital letter.
std::string entry_kind_in_text(EntryKind kind, size_t count) {
  std::string title = entry_kind_title(kind);
  const bool is_name =
      kind == EntryKind::kMain || kind == EntryKind::kCppMain || kind == EntryKind::kHttpRoute;
  if (!is_name) title[0] = static_cast<char>(title[0] | 32);
  return title + (count == 1 ? "" : "s");
}

// "torch>=2.4", "anyhow 1.0.100"; an address is where it is declared.
std::string requirement_text(const DependencyFacts& d) {
  if (d.requirement.empty() || d.requirement.find("://") != std::string::npos) return d.name;
  const bool is_number = d.requirement[0] >= '0' && d.requirement[0] <= '9';
  return d.name + (is_number ? " " : "") + d.requirement;
}

// Functions and methods of the API that a user of a library begins with: those whose way to
// kernels was followed, then those that most files import.
struct ApiEntry {
  EntryKind kind;
  std::string name;
  CodePlace at;
  std::optional<int64_t> kernels;
};
std::vector<ApiEntry> api_entries(const CodeFacts& facts) {
  std::vector<ApiEntry> out;
  const auto add = [&out](ApiEntry entry) {
    if (out.size() < kEntriesOfKind &&
        std::ranges::find(out, entry.name, &ApiEntry::name) == out.end())
      out.push_back(std::move(entry));
  };
  for (const RequestPath& path : facts.request_paths) {
    if ((path.entry_kind == EntryKind::kFunction || path.entry_kind == EntryKind::kMethod) &&
        !path.hops.empty() && path.kernels_reached > 0)
      add({path.entry_kind, path.entry, path.hops[0].at, path.kernels_reached});
  }
  // An engine's users do not begin with its functions; what has no program of its own is a library.
  const bool is_library = facts.start_commands.empty() ||
                          std::ranges::any_of(facts.request_paths, [](const RequestPath& path) {
                            return path.entry_kind == EntryKind::kFunction;
                          });
  std::vector<const ApiFacts*> functions, classes;
  for (const ApiFacts& api : facts.api) {
    const bool callable = api.kind == EntryKind::kFunction || api.kind == EntryKind::kBinding ||
                          api.kind == EntryKind::kClass;
    if (is_library && api.in_readme && callable && !is_aside(facts.files[api.at.file]))
      add({api.kind, api.name, api.at, std::nullopt});
    if (is_library && api.kind == EntryKind::kFunction && api.used_in > 0)
      functions.push_back(&api);
  }
  for (const ApiFacts& api : facts.api) {
    if (is_library && api.kind == EntryKind::kClass && api.used_in > 0 && functions.empty())
      classes.push_back(&api);
  }
  if (functions.empty()) functions = std::move(classes);
  std::ranges::stable_sort(functions, std::greater(), &ApiFacts::used_in);
  for (const ApiFacts* api : functions) add({api->kind, api->name, api->at, std::nullopt});
  // A library of another language is called through what it binds or declares in its headers.
  const bool has_program = std::ranges::any_of(facts.entry_points, [&](const EntryPoint& entry) {
    return entry.kind == EntryKind::kCppMain && !is_aside(facts.files[entry.at.file]);
  });
  if (!out.empty() || !is_library || has_program) return out;
  std::set<CodePlace> on_paths;
  for (const KernelFacts& kernel : facts.kernels) {
    for (const PathHop& hop : kernel.path) on_paths.insert(hop.at);
  }
  for (const EntryKind kind :
       {EntryKind::kBinding, EntryKind::kClass, EntryKind::kHeaderFunction}) {
    for (const bool leads_to_kernel : {true, false}) {
      for (const ApiFacts& api : facts.api) {
        if (api.kind == kind && on_paths.contains(api.at) == leads_to_kernel &&
            !is_aside(facts.files[api.at.file]))
          add({kind, api.name, api.at, std::nullopt});
      }
    }
  }
  return out;
}

}  // namespace

void add_link(std::string_view sentence, std::string_view page, std::string& out) {
  out += fmt::format("\n{}: [{}]({}).\n", sentence, page.substr(0, page.find('#')), page);
}

namespace {

// The file that a command runs; of an installed program what it calls, not where it is declared.
std::string what_runs(const CodeFacts& facts, const StartCommand& command) {
  const auto script = std::ranges::find_if(facts.entry_points, [&](const EntryPoint& entry) {
    return entry.kind == EntryKind::kConsoleScript && entry.name == command.program &&
           !entry.target.empty();
  });
  if (script != facts.entry_points.end()) return script->target;
  return command.file ? facts.files[*command.file].path : "";
}

// The README's own commands, one for each program first.
void add_start_commands(const CodeFacts& facts, std::string& out) {
  constexpr size_t kCommands = 6;
  // One of each, then a second: more of the same program say little.
  std::vector<const StartCommand*> shown, again;
  std::map<std::string_view, size_t> programs;
  for (const StartCommand& command : facts.start_commands) {
    const size_t before = programs[command.program]++;
    if (before < 2) (before == 0 ? shown : again).push_back(&command);
  }
  shown.insert(shown.end(), again.begin(), again.end());
  const size_t all = facts.start_commands.size();
  if (all == 0) return;
  if (shown.size() > kCommands) shown.resize(kCommands);
  std::ranges::stable_sort(shown, {}, [](const StartCommand* c) { return c->at; });
  const bool readme = facts.readme && facts.start_commands[0].at.file == facts.readme->file;
  out += readme ? "As its README starts it:\n\n" : "As its documentation starts it:\n\n";
  for (const StartCommand* command : shown) {
    out += fmt::format("- {} ({}", md_code(shortened(command->text, 160)),
                       md_code(place_text(facts, command->at)));
    const std::string runs = what_runs(facts, *command);
    if (!runs.empty()) out += fmt::format("; runs {}", md_code(runs));
    out += ")\n";
  }
  if (all > shown.size()) out += fmt::format("- {} more\n", all - shown.size());
  out += "\n";
}

}  // namespace

void add_entry_points(const CodeFacts& facts, PageRoom room, std::string& out) {
  out += "\n## How to start it\n\n";
  add_start_commands(facts, out);
  const std::vector<ApiEntry> api = api_entries(facts);
  if (facts.entry_points.empty() && api.empty()) {
    out += "No entry point found.\n";
    return;
  }
  Table table("entry_points");
  Column &kind = table.text_column("kind"), &start = table.text_column("name or command"),
         &where = table.text_column("where"), &kernels = table.count_column("kernels reached");
  const auto add_row = [&](EntryKind of_kind, std::string_view name, const CodePlace& at,
                           const std::optional<int64_t>& reached) {
    kind.add(entry_kind_title(of_kind));
    start.add(name);
    where.add(place_text(facts, at));
    kernels.add(reached);
  };
  bool api_shown = false;
  const auto add_api = [&] {
    for (const ApiEntry& entry : api) add_row(entry.kind, entry.name, entry.at, entry.kernels);
    api_shown = true;
  };
  std::set<uint32_t> started;
  for (const StartCommand& command : facts.start_commands) {
    if (command.file && facts.files[*command.file].language != Language::kToml)
      started.insert(*command.file);
  }
  std::map<EntryKind, size_t> shown;
  std::vector<std::pair<EntryKind, std::vector<CodePlace>>> others;
  for (const RankedEntry& ranked : ranked_entries(facts)) {
    const EntryPoint& entry = facts.entry_points[ranked.entry];
    // The API comes after what is installed, before programs that lie in the code.
    if (!api_shown && (ranked.aside || entry.kind != EntryKind::kConsoleScript)) add_api();
    // Its command stands above.
    if (started.contains(entry.at.file)) continue;
    if (!ranked.aside && table.rows() < room.rows(kEntries) &&
        shown[entry.kind] < room.rows(kEntriesOfKind)) {
      add_row(entry.kind, entry.command.empty() ? entry.name : entry.command, entry.at,
              ranked.kernels ? std::optional<int64_t>(*ranked.kernels) : std::nullopt);
      ++shown[entry.kind];
      continue;
    }
    auto found = std::ranges::find(others, entry.kind, &decltype(others)::value_type::first);
    if (found == others.end()) found = others.insert(found, {entry.kind, {}});
    found->second.push_back(entry.at);
  }
  if (!api_shown) add_api();
  if (table.rows() > 0) {
    out += md_table(table,
                    {.code_columns = {"name or command", "where"}, .markdown_columns = {"kind"}});
    if (!others.empty()) out += "\n";
  }
  for (const auto& [of_kind, places] : others) {
    out += fmt::format("- {} {}{}: {}\n", number_text(places.size()),
                       shown.contains(of_kind) ? "more " : "",
                       entry_kind_in_text(of_kind, places.size()), folders_text(facts, places, 2));
  }
  if (!facts.entry_points.empty()) add_link("All of them", "entry_points.md", out);
}

void add_options(const CodeFacts& facts, PageRoom room, std::string& out) {
  out += "\n## Options\n\n";
  if (facts.options.empty()) {
    out += "No options found.\n";
    return;
  }
  struct Kind {
    OptionKind kind;
    std::string_view title;
  };
  constexpr Kind kinds[] = {{OptionKind::kCli, "Command line"},
                            {OptionKind::kEnvironment, "Environment"},
                            {OptionKind::kConfig, "Configuration keys"}};
  for (const Kind& kind : kinds) {
    std::vector<CodePlace> places;
    for (const OptionFacts& option : facts.options) {
      if (option.kind == kind.kind) places.push_back(option.at);
    }
    if (places.empty()) continue;
    out += fmt::format("- {}: {}, in {}\n", kind.title, number_text(places.size()),
                       folders_text(facts, places, 1));
  }
  out +=
      "\nFirst the options that the README shows, then by what they affect "
      "([features.md](features.md)) "
      "and whether code on the path to a kernel reads them:\n\n";
  Table table("options");
  Column &name = table.text_column("option"), &value = table.text_column("default"),
         &what = table.text_column("what"), &where = table.text_column("where");
  for (const Kind& kind : kinds) {
    const std::vector<RankedOption> ranked = ranked_options(facts, kind.kind);
    for (size_t i = 0; i < std::min(ranked.size(), room.rows(kOptionsOfKind)); ++i) {
      if (ranked[i].aside) break;  // of tests, examples and scripts: on their page
      const OptionFacts& option = facts.options[ranked[i].option];
      name.add(option.name);
      value.add(option.default_value);
      what.add(option_meaning(facts, ranked[i]));
      std::string place = md_code_cell(place_text(facts, option.at));
      if (ranked[i].places > 1) place += fmt::format(" and {} more", ranked[i].places - 1);
      where.add(place);
    }
  }
  MarkdownTableStyle style{.code_columns = {"option", "default"},
                           .markdown_columns = {"what", "where"}};
  style.max_characters = 60;
  if (table.rows() > 0)
    out += md_table(table, style);
  else
    out += "None: all are of tests, examples, benchmarks and scripts.\n";
  add_link("All of them", "options.md", out);
}

void add_dependencies(const CodeFacts& facts, std::string& out) {
  out += "\n## Dependencies\n\n";
  std::vector<const DependencyFacts*> needed;
  std::set<std::string_view> seen;
  std::map<std::string, size_t> groups;
  size_t undeclared = 0;
  for (const DependencyFacts& d : facts.dependencies) {
    if (d.at.line == 0) {
      ++undeclared;
    } else if (!d.group.empty()) {
      ++groups[d.group];
    } else if (seen.insert(d.name).second) {
      needed.push_back(&d);
    }
  }
  if (facts.dependencies.empty()) {
    out += "No dependencies declared or imported.\n";
    return;
  }
  std::ranges::stable_sort(needed, std::greater(),
                           [](const DependencyFacts* d) { return d->used_at.size(); });
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(needed.size(), kDependencies); ++i) {
    names.push_back(md_code(shortened(requirement_text(*needed[i]), 40)));
  }
  if (needed.size() > kDependencies)
    names.push_back(fmt::format("{} more", number_text(needed.size() - kDependencies)));
  out += names.empty()
             ? "No required dependencies declared.\n"
             : fmt::format("Declared, the most used first: {}.\n", fmt::join(names, ", "));
  std::vector<std::string> optional;
  for (const NameCount& group : by_count(groups)) {
    if (optional.size() < kGroups)
      optional.push_back(fmt::format("{} {}", md_text(group.name), number_text(group.count)));
  }
  if (!optional.empty()) {
    if (groups.size() > kGroups) optional.push_back(counted(groups.size() - kGroups, "more group"));
    out += fmt::format("Optional groups: {}.\n", fmt::join(optional, ", "));
  }
  if (undeclared > 0) {
    out += fmt::format(
        "{} imported but not declared "
        "([which](dependencies.md#imported-but-not-declared)).\n",
        undeclared == 1 ? "1 more is" : number_text(undeclared) + " more are");
  }
  add_link("All dependencies, with where they are declared and used", "dependencies.md", out);
}

}  // namespace fathom
