#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/ascii.h"
#include "base/count_text.h"
#include "base/screen_text.h"
#include "base/text_parts.h"
#include "base/tsv.h"
#include "report/markdown.h"
#include "report/scan/foremost_path.h"
#include "report/scan/inventory_pages.h"
#include "report/scan/kernel_purpose.h"
#include "report/scan/quick_scan.h"
#include "report/scan/ranking.h"
#include "report/scan/scan_counts.h"
#include "report/scan/scan_report.h"
#include "report/scan/unread_code.h"
#include "scan/facts/code_names.h"
#include "scan/facts/fact_names.h"
#include "scan/features/feature_rules.h"
#include "scan/files/language.h"
#include "scan/files/origin.h"

namespace fathom {
namespace {

// What keeps the page within five, whatever the repository.
constexpr size_t kReadmeCharacters = 700, kReadmeHeadings = 12;
constexpr size_t kComponents = 14, kFeaturesOfArea = 5, kKernelGroups = 12, kForemostKernels = 6,
                 kModules = 6, kRequests = 2, kLanguages = 8, kNotes = 6, kUnread = 8;

std::string size_text(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  if (bytes < 1000000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

void add_headline(const CodeFacts& facts, std::string& out) {
  SizeCount all;
  for (const SourceFile& file : facts.files) all.add(file);
  out += fmt::format("# Quick scan: {}\n\n", md_text(facts.repository));
  out += fmt::format("{} · {} · {}", counted(all.files, "file", "files"),
                     counted(all.lines, "line", "lines"), size_text(all.bytes));
  const std::string shares = language_shares(count_languages(facts, false), 5);
  if (!shares.empty()) out += fmt::format(" · {}", shares);
  out += fmt::format("  \n{} · {} · {} · {} · {}\n\n",
                     counted(facts.kernels.size(), "kernel", "kernels"),
                     counted(facts.features.size(), "feature", "features"),
                     counted(facts.entry_points.size(), "entry point", "entry points"),
                     counted(facts.options.size(), "option", "options"),
                     counted(facts.dependencies.size(), "dependency", "dependencies"));
  const std::vector<std::string> unread = unread_lines(facts);
  for (size_t i = 0; i < std::min(unread.size(), kUnread); ++i)
    out += fmt::format("{}{}", i == 0 ? "Not read: " : " · ", unread[i]);
  if (unread.size() > kUnread) out += fmt::format(" · {} more", unread.size() - kUnread);
  if (!unread.empty()) out += "\n\n";
  out +=
      "From static analysis; nothing was built, run or measured. Each section shows the top "
      "entries "
      "and links to its full page. [scan.json](scan.json) has all facts with their locations.\n";
}

void add_readme(const CodeFacts& facts, std::string& out) {
  out += "\n## What it is\n\n";
  if (!facts.readme) {
    out += "No README at the root.\n";
    return;
  }
  const ReadmeFacts& readme = *facts.readme;
  if (!readme.title.empty()) out += fmt::format("**{}**", md_prose(readme.title));
  if (!readme.first_paragraph.empty()) {
    if (!readme.title.empty()) out += ": ";
    out += fmt::format(
        "{} ({})", md_prose(shortened(readme.first_paragraph, kReadmeCharacters)),
        md_code(place_text(facts, {readme.manifest.value_or(readme.file), readme.paragraph_line})));
  }
  out += "\n";
  std::vector<std::string> headings;
  for (const ReadmeFacts::Heading& heading : readme.headings) {
    const std::string text = md_prose(shortened(heading.text, 40));
    if (heading.level == 2 && heading.text != readme.title && !contains(headings, text))
      headings.push_back(text);
  }
  const size_t all = headings.size();
  if (all == 0) return;
  if (all > kReadmeHeadings) headings.resize(kReadmeHeadings);
  out +=
      fmt::format("\nIts README has sections on: {}{}.\n", fmt::join(headings, " · "),
                  all > kReadmeHeadings ? fmt::format(" and {} more", all - kReadmeHeadings) : "");
}

void add_main_components(const CodeFacts& facts, std::string& out) {
  if (facts.components.empty()) return;
  out += "\n## Components\n\n";
  std::vector<const ComponentFacts*> all;
  for (const ComponentFacts& component : facts.components) all.push_back(&component);
  // Where much of the code is, when not all fit.
  std::vector<const ComponentFacts*> shown = all;
  std::ranges::stable_sort(shown, std::greater(), [](const ComponentFacts* c) {
    return std::tuple(c->kernels.size(), c->files.size());
  });
  if (shown.size() > kComponents) shown.resize(kComponents);
  for (const ComponentFacts* component : all) {
    if (!contains(shown, component)) continue;
    out += fmt::format("- **{}**: {}", component->title, component->purpose);
    if (!component->files.empty())
      out += fmt::format("; {}", counted(component->files.size(), "file", "files"));
    if (!component->kernels.empty())
      out += fmt::format(", {}", counted(component->kernels.size(), "kernel", "kernels"));
    if (!component->folders.empty())
      out += fmt::format(", mostly in {}", md_code(component->folders[0]));
    out += component->certainty == Certainty::kCertain
               ? "\n"
               : fmt::format(" ({})\n", certainty_name(component->certainty));
  }
  if (all.size() > shown.size()) out += fmt::format("- {} more\n", all.size() - shown.size());
  add_link("Evidence", "architecture.md#components", out);
}

void add_features(const CodeFacts& facts, const std::vector<std::string>& links, std::string& out) {
  if (facts.features.empty()) return;
  out += "\n## Features that affect the hardware\n\n";
  // The most used first, of each area.
  std::map<std::string_view, std::vector<std::string>> areas;
  for (size_t i = 0; i < facts.features.size(); ++i) {
    const FeatureFacts& feature = facts.features[i];
    areas[feature.area].push_back(
        fmt::format("[{}]({}){}", feature.title, links[i],
                    feature.certainty == Certainty::kCertain
                        ? ""
                        : fmt::format(" ({})", certainty_name(feature.certainty))));
  }
  for (auto& [area, features] : areas) {
    const size_t all = features.size();
    if (all > kFeaturesOfArea) features.resize(kFeaturesOfArea);
    out += fmt::format(
        "- **{}**: {}{}\n", capitalised(std::string(area)), fmt::join(features, ", "),
        all > kFeaturesOfArea ? fmt::format(" and {} more", all - kFeaturesOfArea) : "");
  }
  add_link("Hardware impact and what to measure", "features.md", out);
}

void add_kernels(const CodeFacts& facts, const KernelPages& pages, PageRoom room,
                 std::string& out) {
  const size_t most_groups = room.rows(kKernelGroups);
  out += "\n## Kernels\n\n";
  if (facts.kernels.empty()) {
    out += "No GPU kernel found.\n";
    return;
  }
  out += fmt::format("{}: {}.", counted(facts.kernels.size(), "kernel", "kernels"),
                     joined_counts(count_kernel_kinds(facts)));
  if (const size_t dead = count_dead(facts); dead > 0)
    out += fmt::format(" {} dead: nothing launches or references {}.", number_text(dead),
                       dead == 1 ? "it" : "them");
  if (const size_t lost = count_without_launcher(facts); lost > 0)
    out += fmt::format(" {} without a launch site.", number_text(lost));
  out += "\n\n";
  std::vector<const KernelGroup*> groups;
  for (const KernelGroup& group : pages.groups) groups.push_back(&group);
  std::ranges::stable_sort(groups, std::greater(), [&](const KernelGroup* group) {
    const bool aside = is_aside(facts.files[facts.kernels[group->kernels[0]].at.file]);
    return std::tuple(!aside, group->kernels.size());
  });
  Table table("kernels");
  Column &where = table.text_column("where"), &count = table.count_column("kernels"),
         &names = table.text_column("examples");
  for (size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
    where.add(md_link_cell(groups[i]->title, groups[i]->link));
    count.add(static_cast<int64_t>(groups[i]->kernels.size()));
    std::vector<std::string> first;
    for (const uint32_t kernel : groups[i]->kernels) {
      const std::string name = md_code_cell(shortened(facts.kernels[kernel].name, 40));
      if (first.size() < 2 && !contains(first, name)) first.push_back(name);
    }
    names.add(fmt::format("{}", fmt::join(first, ", ")));
  }
  out += md_table(table, {.markdown_columns = {"where", "examples"}});
  if (groups.size() > most_groups) {
    size_t rest = 0;
    for (size_t i = most_groups; i < groups.size(); ++i) rest += groups[i]->kernels.size();
    out += fmt::format("\n{} more in {}.\n", number_text(rest),
                       counted(groups.size() - most_groups, "other place"));
  }
  std::string foremost;
  for (const uint32_t kernel : foremost_kernels(facts, kForemostKernels)) {
    const std::string purpose = kernel_purpose(facts, facts.kernels[kernel]);
    foremost +=
        fmt::format("- {} ({}){}\n", md_link(facts.kernels[kernel].name, pages.links[kernel]),
                    md_code(place_text(facts, facts.kernels[kernel].at)),
                    purpose.empty() ? "" : ": " + purpose);
  }
  if (!foremost.empty())
    out += fmt::format("\nMost important, with what each computes (derived):\n\n{}", foremost);
  add_link("Launches, execution stories and expected behaviour", "kernels.md", out);
}

// "a → b → … → kernel"
std::string short_way(const RequestPath& path) {
  constexpr size_t kBegin = 3, kEnd = 3;
  std::string out;
  for (size_t i = 0; i < path.hops.size(); ++i) {
    const bool shown = i < kBegin || i + kEnd >= path.hops.size();
    if (shown) out += (out.empty() ? "" : " → ") + md_code(shortened(path.hops[i].function, 50));
    if (i == kBegin && !shown) out += " → …";
  }
  return out;
}

void add_short_request_path(const CodeFacts& facts, std::string& out) {
  // Without a kernel of its own only calls of libraries end a path.
  const auto ends_in_library = [](const RequestPath& path) {
    return !path.hops.empty() && path.hops.back().how.is(ReachKind::kCallsLibrary);
  };
  if (facts.request_paths.empty() ||
      (facts.kernels.empty() && std::ranges::none_of(facts.request_paths, ends_in_library)))
    return;
  out += "\n## Request path\n\n";
  std::set<uint32_t> started;
  for (const StartCommand& command : facts.start_commands) {
    if (command.file) started.insert(*command.file);
  }
  std::vector<const RequestPath*> entries;
  for (const RequestPath& first : facts.request_paths) {
    const bool known = std::ranges::any_of(entries, [&](const RequestPath* other) {
      return other->entry == first.entry && other->entry_kind == first.entry_kind;
    });
    if (!known) entries.push_back(&foremost_path(facts, first));
  }
  // Of a library's many functions those that are known to get to a kernel, or to one of their name.
  std::ranges::stable_partition(entries, [&facts](const RequestPath* path) {
    return !is_of_library(*path) || is_sure(*path) || is_called_like(facts, *path);
  });
  std::vector<const RequestPath*> shown;
  for (const RequestPath* one : entries) {
    if (shown.size() == kRequests) break;
    const RequestPath& path = *one;
    // One that got to no kernel tells something only of what people start.
    const bool told = path.entry_kind == EntryKind::kHttpRoute ||
                      (!path.hops.empty() && started.contains(path.hops[0].at.file));
    const bool in_library = ends_in_library(path);
    if (path.hops.empty() || (path.kernels_reached == 0 && !in_library && !told)) continue;
    shown.push_back(&path);
    const std::string entry =
        fmt::format("- {} {}: ", entry_kind_title(path.entry_kind), md_code(path.entry));
    // The farthest helper that was reached is not where a request goes.
    out += path.kernels_reached > 0 || in_library
               ? fmt::format(
                     "{}{}{}; {}, {}\n", entry, short_way(path), is_sure(path) ? "" : " (possible)",
                     counted(path.hops.size(), "step", "steps"),
                     path.kernels_reached == 0
                         ? std::string("no kernel reached")
                         : counted(path.kernels_reached, "kernel reached", "kernels reached"))
               : fmt::format("{}the calls that were resolved from {} reach no kernel\n", entry,
                             md_code(shortened(path.hops[0].function, 50)));
  }
  if (shown.empty()) out += "No entry point was followed to a kernel.\n";
  add_link("All steps, with source lines and confidence", "architecture.md#request-path", out);
}

void add_main_modules(const CodeFacts& facts, std::string& out) {
  if (facts.modules.modules.empty()) return;
  out += "\n## Key modules\n\n";
  for (size_t i = 0; i < std::min(facts.modules.modules.size(), kModules); ++i) {
    const ModuleFacts& module = facts.modules.modules[i];
    out += fmt::format("- {}: {}\n", md_code(facts.files[module.file].path), module_reason(module));
  }
  add_link("Ranking, folders and API", "repo_analysis.md#key-modules", out);
}

void add_languages(const CodeFacts& facts, PageRoom room, std::string& out) {
  const size_t most = room.rows(kLanguages);
  out += "\n## Languages and size\n\n";
  Table table("languages");
  Column &name = table.text_column("language"), &files = table.count_column("files"),
         &lines = table.count_column("lines"), &size = table.text_column("size");
  const std::vector<LanguageCount> languages = count_languages(facts, true);
  SizeCount rest;
  for (size_t i = 0; i < languages.size(); ++i) {
    const SizeCount& count = languages[i].size;
    if (i >= most) {
      rest.files += count.files;
      rest.lines += count.lines;
      rest.bytes += count.bytes;
      continue;
    }
    name.add(language_name(languages[i].language));
    files.add(static_cast<int64_t>(count.files));
    lines.add(static_cast<int64_t>(count.lines));
    size.add(size_text(count.bytes));
  }
  if (languages.size() > most) {
    name.add(fmt::format("{} more", languages.size() - most));
    files.add(static_cast<int64_t>(rest.files));
    lines.add(static_cast<int64_t>(rest.lines));
    size.add(size_text(rest.bytes));
  }
  out += md_table(table, {.markdown_columns = {"language", "size"}});
  std::vector<std::string> parts;
  for (const auto& [origin, size_of] : count_origins(facts)) {
    parts.push_back(fmt::format("{} {} ({})", origin_name(origin),
                                counted(size_of.files, "file", "files"),
                                counted(size_of.lines, "line", "lines")));
  }
  out += fmt::format("\nOrigin: {}.\n", fmt::join(parts, ", "));
  out += purposes_text(facts);
  add_link("Folders", "repo_analysis.md#directory-structure", out);
}

void add_disagreements(const CodeFacts& facts, std::string& out) {
  if (facts.doc_claims.empty()) return;
  out += fmt::format("\n## Documentation\n\nDocumentation and code disagree at {}.\n",
                     counted(facts.doc_claims.size(), "place", "places"));
  add_link("List", "repo_analysis.md#where-documentation-and-code-disagree", out);
}

void add_notes(const CodeFacts& facts, std::string& out) {
  if (facts.notes.empty()) return;
  out += "\n## Notes\n\n";
  for (size_t i = 0; i < std::min(facts.notes.size(), kNotes); ++i)
    out += fmt::format("- {}\n", md_prose(shortened(facts.notes[i], 200)));
  if (facts.notes.size() > kNotes) {
    out +=
        fmt::format("- {} more in [scan.json](scan.json), `notes`\n", facts.notes.size() - kNotes);
  }
}

std::string page_of(const CodeFacts& facts, const KernelPages& kernels,
                    const FeaturePages& features, PageRoom room) {
  std::string out;
  add_headline(facts, out);
  add_readme(facts, out);
  add_entry_points(facts, room, out);
  add_options(facts, room, out);
  add_main_components(facts, out);
  add_features(facts, features.links, out);
  add_kernels(facts, kernels, room, out);
  add_api_matrix(facts, room, out);
  add_dispatch(facts, room, out);
  add_short_request_path(facts, out);
  add_main_modules(facts, out);
  add_build_switches(facts, room, out);
  add_dependencies(facts, out);
  add_languages(facts, room, out);
  add_disagreements(facts, out);
  add_notes(facts, out);
  return out;
}

}  // namespace

std::string quick_scan_markdown(const CodeFacts& facts, const KernelPages& kernels,
                                const FeaturePages& features) {
  constexpr size_t kShortest = 4;
  for (PageRoom room;; ++room.divisor) {
    std::string page = page_of(facts, kernels, features, room);
    if (room.divisor == kShortest || printed_lines(page) <= kFivePages) return page;
  }
}

}  // namespace fathom
