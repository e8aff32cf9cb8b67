#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/count_text.h"
#include "report/markdown.h"
#include "report/scan/foremost_path.h"
#include "report/scan/inventory_pages.h"
#include "report/scan/part_diagram.h"
#include "report/scan/scan_counts.h"
#include "report/scan/scan_report.h"
#include "scan/facts/fact_names.h"

namespace fathom {
namespace {

constexpr size_t kOtherKernels = 7, kBestModules = 3;

bool is_message(const RequestHop& hop) {
  return hop.how.is(ReachKind::kSends) || hop.how.is(ReachKind::kPutsInto);
}
bool is_start(const RequestHop& hop) { return hop.how.is(ReachKind::kStarts); }

// What joins the parts. An import inside one part joins nothing.
std::string joints(const ModuleGraph& graph) {
  if (graph.parts.size() < 2) return "";
  uint64_t between = 0;
  for (const FolderFacts& part : graph.parts) {
    for (const ModuleEdge& edge : part.imports) between += edge.count;
  }
  if (between == 0) return ", none of which imports or includes another";
  return fmt::format(", joined by {}",
                     counted(between, "import or include line", "import and include lines"));
}

void add_overview(const CodeFacts& facts, std::string& out) {
  out += "\n## Overview\n\n";
  if (facts.readme && !facts.readme->first_paragraph.empty()) {
    std::string text = facts.readme->first_paragraph;
    if (screen_width(text) > 500) text = fit_left(text, 500);
    out +=
        fmt::format("In its own words: {} ({})\n\n", md_prose(text),
                    md_code(place_text(facts, {facts.readme->manifest.value_or(facts.readme->file),
                                               facts.readme->paragraph_line})));
  }
  const ModuleGraph& graph = facts.modules;
  uint64_t lines = 0, files = 0;
  for (const FolderFacts& part : graph.parts) {
    lines += part.lines;
    files += part.files;
  }
  out += fmt::format(
      "Derived: {} of first-party code ({}, without tests, benchmarks, examples and tools) in "
      "{}{}; "
      "{}.\n",
      counted(files, "file", "files"), counted(lines, "line", "lines"),
      counted(graph.parts.size(), "part", "parts"), joints(graph),
      counted(facts.kernels.size(), "kernel", "kernels"));
  if (graph.parts.empty()) return;
  out +=
      "\nA part is a folder with its subfolders. Arrows are imports and includes; the importing "
      "part is above.\n\n```text\n";
  out += part_boxes(facts);
  out += "```\n\n```mermaid\n" + part_mermaid(facts) + "```\n";
}

// What the parts are for, where the rules of data/features recognise it.
void add_components(const CodeFacts& facts, std::string& out) {
  if (facts.components.empty()) return;
  out +=
      "\n## Components\n\nRecognised by names in the code; [features.md](features.md) has the "
      "techniques.\n\n";
  Table table("components");
  Column &title = table.text_column("component"), &purpose = table.text_column("purpose"),
         &where = table.text_column("mostly in"), &evidence = table.text_column("evidence"),
         &at = table.text_column("at"), &kernels = table.count_column("kernels"),
         &certainty = table.text_column("confidence");
  for (const ComponentFacts& component : facts.components) {
    std::string folders;
    for (size_t i = 0; i < std::min<size_t>(component.folders.size(), 2); ++i)
      folders += (i == 0 ? "" : ", ") + component.folders[i];
    title.add(component.title);
    purpose.add(component.purpose);
    where.add(folders);
    evidence.add(component.evidence.empty() ? std::string() : component.evidence[0].what);
    at.add(component.evidence.empty() ? std::string()
                                      : place_text(facts, component.evidence[0].at));
    kernels.add(component.kernels.empty() ? std::optional<int64_t>()
                                          : static_cast<int64_t>(component.kernels.size()));
    certainty.add(std::string(certainty_name(component.certainty)));
  }
  out += md_table(table, {{"mostly in", "at"}, {}});
}

void add_part(const CodeFacts& facts, const PartNames& names, size_t at, std::string& out) {
  const FolderFacts& part = facts.modules.parts[at];
  out += fmt::format("- **{}**: {}, {}, {}, {}", md_code(part.path.empty() ? "(root)" : part.path),
                     counted(part.files, "file", "files"), counted(part.lines, "line", "lines"),
                     counted(part.classes, "class", "classes"),
                     counted(part.functions, "function", "functions"));
  if (part.kernels > 0) out += fmt::format(", {}", counted(part.kernels, "kernel", "kernels"));
  out += ".";
  std::vector<std::string> best;
  for (size_t i = 0; i < std::min(part.modules.size(), kBestModules); ++i)
    best.push_back(md_code(facts.files[facts.modules.modules[part.modules[i]].file].path));
  if (!best.empty()) out += fmt::format(" Key modules: {}.", fmt::join(best, ", "));
  std::vector<ModuleEdge> edges = part.imports;
  std::ranges::stable_sort(edges, std::greater(), &ModuleEdge::count);
  std::vector<std::string> imports;
  for (size_t i = 0; i < std::min<size_t>(edges.size(), 2); ++i)
    imports.push_back(fmt::format("{} ({}, first {})", md_code(names.of(edges[i].to)),
                                  counted(edges[i].count, "time", "times"),
                                  md_code(place_text(facts, edges[i].first))));
  if (!imports.empty()) out += fmt::format(" Imports {}.", fmt::join(imports, ", "));
  out += part.imported_by == 0
             ? " No other part imports it.\n"
             : fmt::format(" Imported by {}.\n", counted(part.imported_by, "part", "parts"));
}

void add_parts(const CodeFacts& facts, std::string& out) {
  out += "\n## Parts\n\n";
  if (facts.modules.parts.empty()) out += "No first-party code was found.\n";
  const PartNames names(facts);
  for (size_t i = 0; i < facts.modules.parts.size(); ++i) add_part(facts, names, i, out);
}

// Messages and processes on the ways of requests: where work changes hands.
void add_data_flow(const CodeFacts& facts, std::string& out) {
  out += "\n## Data flow\n\n";
  std::set<std::tuple<CodePlace, CodePlace>> seen;
  Table table("flow");
  Column &from = table.text_column("from"), &line = table.text_column("line"),
         &how = table.text_column("hand-off"), &to = table.text_column("to"),
         &where = table.text_column("defined at"), &certainty = table.text_column("confidence");
  for (const RequestPath& path : facts.request_paths) {
    for (size_t i = 1; i < path.hops.size(); ++i) {
      const RequestHop& hop = path.hops[i];
      if ((!is_message(hop) && !is_start(hop)) || !seen.insert({hop.from, hop.at}).second) continue;
      from.add(path.hops[i - 1].function);
      line.add(place_text(facts, hop.from));
      how.add(reach_text(facts, hop.how));
      to.add(hop.function);
      where.add(place_text(facts, hop.at));
      certainty.add(std::string(certainty_name(hop.certainty)));
    }
  }
  if (seen.empty()) {
    out +=
        "The request paths below use calls only: no queue, socket or process boundary was "
        "found.\n";
    return;
  }
  out += "Hand-offs between processes, threads or loops on the request paths below:\n\n";
  out += md_table(table, {{"from", "line", "to", "defined at"}, {}});
}

void add_hops(const CodeFacts& facts, const std::vector<RequestHop>& hops, std::string& out) {
  Table table("hops");
  Column &step = table.count_column("step"), &function = table.text_column("function"),
         &where = table.text_column("defined at"), &how = table.text_column("reached by"),
         &from = table.text_column("from line"), &certainty = table.text_column("confidence");
  for (size_t i = 0; i < hops.size(); ++i) {
    step.add(static_cast<int64_t>(i + 1));
    function.add(hops[i].function);
    where.add(place_text(facts, hops[i].at));
    how.add(reach_text(facts, hops[i].how));
    from.add(hops[i].from.line == 0 ? std::string() : place_text(facts, hops[i].from));
    certainty.add(std::string(certainty_name(hops[i].certainty)));
  }
  MarkdownTableStyle style{{"function", "defined at", "from line"}, {}};
  style.max_characters = 140;
  out += md_table(table, style);
}

// How many hops two ways have in common.
size_t shared_hops(const std::vector<RequestHop>& a, const std::vector<RequestHop>& b) {
  size_t at = 0;
  while (at < a.size() && at < b.size() && a[at].at == b[at].at && a[at].function == b[at].function)
    ++at;
  return at;
}

std::string chain(const std::vector<RequestHop>& hops, size_t from) {
  std::string out;
  for (size_t i = from; i < hops.size(); ++i) out += (out.empty() ? "" : " → ") + hops[i].function;
  return out;
}

Certainty weakest(const std::vector<RequestHop>& hops) {
  Certainty out = Certainty::kCertain;
  for (const RequestHop& hop : hops) out = std::max(out, hop.certainty);
  return out;
}

// The other ends of the same entry point: where each leaves the way that was shown.
void add_branches(const CodeFacts& facts, const std::vector<const RequestPath*>& paths,
                  std::string& out) {
  Table table("branches");
  Column &end = table.text_column("ends at"), &leaves = table.text_column("leaves at"),
         &then = table.text_column("then"), &where = table.text_column("end defined at"),
         &certainty = table.text_column("weakest step");
  const std::vector<RequestHop>& trunk = paths[0]->hops;
  size_t shown = 0;
  for (size_t i = 1; i < paths.size(); ++i) {
    if (paths[i]->kernel && ++shown > kOtherKernels) continue;
    const std::vector<RequestHop>& hops = paths[i]->hops;
    const size_t shared = shared_hops(trunk, hops);
    end.add(paths[i]->kernel ? facts.kernels[*paths[i]->kernel].name : paths[i]->stopped);
    leaves.add(shared == 0 ? std::string("the entry")
                           : fmt::format("{}. {}", shared, trunk[shared - 1].function));
    then.add(chain(hops, shared));
    where.add(place_text(facts, hops.back().at));
    certainty.add(std::string(certainty_name(weakest(hops))));
  }
  if (paths.size() < 2) return;
  out += "\nFrom the same entry point:\n\n";
  MarkdownTableStyle style{{"end defined at"}, {}};
  style.max_characters = 400;
  out += md_table(table, style);
}

// "### Function: `f`", and below it why it was chosen.
std::string entry_heading(const RequestPath& path) {
  std::string out =
      fmt::format("\n### {}: {}\n\n", entry_kind_title(path.entry_kind), md_code(path.entry));
  if (!path.why.empty()) out += fmt::format("Chosen because {}. ", md_text(path.why));
  return out;
}

void add_entry(const CodeFacts& facts, const std::vector<const RequestPath*>& paths,
               std::string& out) {
  const RequestPath& first = *paths[0];
  out += entry_heading(first);
  if (first.kernels_reached > 0) {
    out += fmt::format("{} reached. Path to {}:\n\n",
                       counted(first.kernels_reached, "kernel is", "kernels are"),
                       md_code(first.hops.back().function));
  } else {
    out += "No kernel is reached. The path as far as it was resolved:\n\n";
  }
  add_hops(facts, first.hops, out);
  if (!first.stopped.empty())
    out += fmt::format("\nThe path ends here: {}.\n", md_text(first.stopped));
  add_branches(facts, paths, out);
}

// An entry point whose way meets the first one's: only what is before that.
void add_joining(const std::vector<const RequestPath*>& paths, const std::vector<RequestHop>& trunk,
                 const CodeFacts& facts, std::string& out) {
  for (size_t i = 0; i < paths[0]->hops.size(); ++i) {
    const RequestHop& hop = paths[0]->hops[i];
    const auto met = std::ranges::find_if(
        trunk, [&](const RequestHop& t) { return t.at == hop.at && t.function == hop.function; });
    if (met == trunk.end()) continue;
    std::string before;
    for (size_t k = 0; k < i; ++k)
      before += fmt::format("{} ({}) → ", md_code(paths[0]->hops[k].function),
                            md_code(place_text(facts, paths[0]->hops[k].at)));
    out += fmt::format("{}{}{}: joins the path above at step {} and reaches {}.\n",
                       entry_heading(*paths[0]), before, md_code(hop.function),
                       met - trunk.begin() + 1,
                       counted(paths[0]->kernels_reached, "kernel", "kernels"));
    return;
  }
  add_entry(facts, paths, out);
}

size_t line_count(std::string_view text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

std::string in_a_line(const std::vector<const RequestPath*>& paths) {
  return fmt::format("{}{} to {}, {} reached: [scan.json](scan.json), `request_path`.\n",
                     entry_heading(*paths[0]), counted(paths[0]->hops.size(), "step", "steps"),
                     md_code(paths[0]->hops.back().function),
                     counted(paths[0]->kernels_reached, "kernel", "kernels"));
}

void add_request_path(const CodeFacts& facts, std::string& out) {
  out += "\n## Request path\n\n";
  if (facts.request_paths.empty()) {
    out += "No entry point with a resolvable path was found.\n";
    return;
  }
  out +=
      "From an entry point to the kernels. Each step cites the line that leads to it. *certain*: "
      "stated in the code; *likely*: inferred from names or structure; *unsure*: one of several "
      "candidates.\n";
  std::vector<std::vector<const RequestPath*>> entries;
  for (const RequestPath& path : facts.request_paths) {
    if (entries.empty() || entries.back()[0]->entry != path.entry ||
        entries.back()[0]->entry_kind != path.entry_kind)
      entries.emplace_back();
    entries.back().push_back(&path);
  }
  for (std::vector<const RequestPath*>& paths : entries) {
    const auto foremost = std::ranges::find(paths, &foremost_path(facts, *paths[0]));
    if (foremost != paths.end()) std::rotate(paths.begin(), foremost, foremost + 1);
  }
  add_entry(facts, entries[0], out);
  for (size_t i = 1; i < entries.size(); ++i) {
    std::string text;
    add_joining(entries[i], entries[0][0]->hops, facts, text);
    // The page stays within five; what no longer fits is said in a line.
    const bool fits = line_count(out) + line_count(text) + entries.size() * 4 <= kFivePages;
    out += fits ? text : in_a_line(entries[i]);
  }
}

}  // namespace

std::string architecture_markdown(const CodeFacts& facts) {
  std::string out = fmt::format("# Architecture: {}\n\n", md_text(facts.repository));
  out +=
      "From static analysis; nothing was run. Files, modules and API: "
      "[repo_analysis.md](repo_analysis.md). Kernels: "
      "[kernels.md](kernels.md). Everything: [scan.json](scan.json).\n";
  add_overview(facts, out);
  add_components(facts, out);
  add_parts(facts, out);
  add_data_flow(facts, out);
  add_request_path(facts, out);
  return out;
}

}  // namespace fathom
