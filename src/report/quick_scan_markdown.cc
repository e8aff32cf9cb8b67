#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "report/markdown.h"
#include "report/scan_counts.h"
#include "report/scan_report.h"
#include "scan/fact_names.h"
#include "scan/language.h"
#include "scan/origin.h"

namespace fathom {
namespace {

constexpr size_t kEntriesOfKind = 15, kOptionsOfKind = 40, kFolders = 30, kDependencies = 60;

std::string number(uint64_t value) { return with_thousands(static_cast<int64_t>(value)); }

std::string counted(uint64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", number(count), count == 1 ? one : several);
}

std::string size_text(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  if (bytes < 1000000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// What a table of the first few leaves out.
std::string rest_note(size_t all, size_t shown, std::string_view list) {
  if (all <= shown) return "";
  return fmt::format("\n{} more in [scan.json](scan.json), `{}`.\n", number(all - shown), list);
}

void add_headline(const CodeFacts& facts, std::string& out) {
  SizeCount all;
  for (const SourceFile& file : facts.files) all.add(file);
  out += fmt::format("# Quick scan: {}\n\n", md_text(facts.repository));
  out += fmt::format("{} · {} · {}", counted(all.files, "file", "files"),
                     counted(all.lines, "line", "lines"), size_text(all.bytes));
  const std::string shares = language_shares(count_languages(facts, false), 5);
  if (!shares.empty()) out += fmt::format(" · {}", shares);
  out += fmt::format("  \n{}", counted(facts.kernels.size(), "kernel", "kernels"));
  if (!facts.kernels.empty()) out += fmt::format(" ({})", joined_counts(count_kernel_kinds(facts)));
  out += fmt::format(" · {} · {} · {}\n\n",
                     counted(facts.entry_points.size(), "entry point", "entry points"),
                     counted(facts.options.size(), "option", "options"),
                     counted(facts.dependencies.size(), "dependency", "dependencies"));
  out +=
      "All facts with their places: [scan.json](scan.json). The kernels one by one: "
      "[kernels.md](kernels.md).\n";
}

void add_readme(const CodeFacts& facts, std::string& out) {
  out += "\n## What it says of itself\n\n";
  if (!facts.readme) {
    out += "No README at the root.\n";
    return;
  }
  constexpr size_t kHeadings = 30, kCharacters = 700;
  const ReadmeFacts& readme = *facts.readme;
  if (!readme.title.empty()) out += fmt::format("**{}**", md_text(readme.title));
  if (!readme.first_paragraph.empty()) {
    std::string text = readme.first_paragraph;
    if (screen_width(text) > kCharacters) text = fit_left(text, kCharacters);
    if (!readme.title.empty()) out += ": ";
    out += fmt::format("{} ({})", md_text(text),
                       md_code(place_text(facts, {readme.file, readme.paragraph_line})));
  }
  out += "\n\n";
  std::vector<const ReadmeFacts::Heading*> shown;
  for (const ReadmeFacts::Heading& heading : readme.headings) {
    if (heading.level <= 3 && heading.text != readme.title) shown.push_back(&heading);
  }
  for (size_t i = 0; i < std::min(shown.size(), kHeadings); ++i) {
    const std::string indent(shown[i]->level == 3 ? 2 : 0, ' ');
    out += fmt::format("{}- {} ({})\n", indent, md_text(shown[i]->text),
                       md_code(place_text(facts, {readme.file, shown[i]->line})));
  }
  if (shown.size() > kHeadings) out += fmt::format("- … {} more\n", shown.size() - kHeadings);
}

void add_entry_points(const CodeFacts& facts, std::string& out) {
  out += "\n## Entry points\n\n";
  if (facts.entry_points.empty()) {
    out += "None found.\n";
    return;
  }
  const std::vector<NameCount> kinds = count_entry_kinds(facts);
  out += md_text(joined_counts(kinds, true)) + ".\n\n";
  Table table("entry_points");
  Column &kind_column = table.text_column("kind"), &name = table.text_column("name"),
         &target = table.text_column("runs"), &command = table.text_column("start it with"),
         &where = table.text_column("where");
  size_t rows = 0;
  for (const NameCount& kind : kinds) {
    size_t shown = 0;
    for (const EntryPoint& entry : facts.entry_points) {
      if (entry.kind != kind.name || shown == kEntriesOfKind) continue;
      kind_column.add(shown == 0 ? std::string_view(kind.name) : std::string_view());
      name.add(entry.name);
      target.add(entry.target);
      command.add(entry.command);
      where.add(place_text(facts, entry.at));
      ++shown;
      ++rows;
    }
  }
  out += md_table(table, {{"name", "runs", "start it with", "where"}, {}});
  out += rest_note(facts.entry_points.size(), rows, "entry_points");
}

void add_options_of_kind(const CodeFacts& facts, OptionKind kind, std::string_view title,
                         std::string& out) {
  std::vector<const OptionFacts*> options;
  for (const OptionFacts& option : facts.options) {
    if (option.kind == kind) options.push_back(&option);
  }
  if (options.empty()) return;
  // What much of the code reads matters most; then the order of the code.
  std::ranges::stable_sort(options, std::greater(),
                           [](const OptionFacts* option) { return option->read_at.size(); });
  out += fmt::format("\n### {} ({})\n\n", title, number(options.size()));
  Table table("options");
  Column &name = table.text_column("name"), &type = table.text_column("type"),
         &value = table.text_column("default"), &help = table.text_column("what"),
         &where = table.text_column("where"), &reader = table.text_column("read by");
  for (size_t i = 0; i < std::min(options.size(), kOptionsOfKind); ++i) {
    const OptionFacts& option = *options[i];
    name.add(option.name);
    type.add(option.type);
    value.add(option.default_value);
    help.add(option.effect.empty() ? option.help
             : option.help.empty() ? option.effect
                                   : option.effect + ". " + option.help);
    where.add(place_text(facts, option.at));
    reader.add(option.component + (option.read_by_name ? " (by name)" : ""));
  }
  MarkdownTableStyle style{{"name", "type", "default", "where", "read by"}, {}};
  style.max_characters = 80;
  out += md_table(table, style);
  out += rest_note(options.size(), kOptionsOfKind, "options");
}

void add_configuration(const CodeFacts& facts, std::string& out) {
  out += "\n## Configuration\n";
  if (facts.options.empty()) out += "\nNo options found.\n";
  add_options_of_kind(facts, OptionKind::kCli, "Command line", out);
  add_options_of_kind(facts, OptionKind::kEnvironment, "Environment", out);
  add_options_of_kind(facts, OptionKind::kConfig, "Configuration keys", out);
}

std::string contents_of(const FolderCount& folder) {
  std::vector<std::pair<size_t, Language>> languages;
  for (const auto& [language, lines] : folder.languages) {
    if (language != Language::kNone && lines > 0) languages.emplace_back(lines, language);
  }
  std::ranges::sort(languages, [](const auto& a, const auto& b) {
    return std::tuple(b.first, a.second) < std::tuple(a.first, b.second);
  });
  if (languages.size() > 3) languages.resize(3);
  std::vector<std::string> parts;
  for (const auto& [lines, language] : languages) {
    parts.push_back(fmt::format("{} {}", language_name(language), number(lines)));
  }
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (folder.origin != Origin::kOwn) text += fmt::format("; {}", origin_name(folder.origin));
  return text;
}

void add_folders(const CodeFacts& facts, std::string& out) {
  const std::vector<FolderCount> folders = key_folders(facts, kFolders);
  if (folders.empty()) return;
  out += "\n## Key directories\n\n";
  Table table("folders");
  Column &path = table.text_column("folder"), &files = table.count_column("files"),
         &lines = table.count_column("lines"), &kernels = table.count_column("kernels"),
         &entries = table.count_column("entry points"), &options = table.count_column("options"),
         &contents = table.text_column("holds (lines)");
  const auto some = [](size_t count) {
    return count == 0 ? std::optional<int64_t>() : static_cast<int64_t>(count);
  };
  for (const FolderCount& folder : folders) {
    path.add(folder.path);
    files.add(static_cast<int64_t>(folder.size.files));
    lines.add(static_cast<int64_t>(folder.size.lines));
    kernels.add(some(folder.kernels));
    entries.add(some(folder.entry_points));
    options.add(some(folder.options));
    contents.add(contents_of(folder));
  }
  out += md_table(table, {{"folder", "holds (lines)"}, {}});
}

void add_languages(const CodeFacts& facts, std::string& out) {
  out += "\n## Languages and size\n\n";
  Table table("languages");
  Column &name = table.text_column("language"), &files = table.count_column("files"),
         &lines = table.count_column("lines"), &size = table.count_column("bytes");
  for (const LanguageCount& l : count_languages(facts, true)) {
    name.add(language_name(l.language));
    files.add(static_cast<int64_t>(l.size.files));
    lines.add(static_cast<int64_t>(l.size.lines));
    size.add(static_cast<int64_t>(l.size.bytes));
  }
  out += md_table(table, {{"language"}, {}});
  std::vector<std::string> parts;
  for (const auto& [origin, size_of] : count_origins(facts)) {
    parts.push_back(fmt::format("{} {} ({})", origin_name(origin),
                                counted(size_of.files, "file", "files"),
                                counted(size_of.lines, "line", "lines")));
  }
  out += fmt::format("\nWhose code: {}.\n", fmt::join(parts, ", "));
}

void add_dependencies(const CodeFacts& facts, std::string& out) {
  out += "\n## Dependencies\n\n";
  if (facts.dependencies.empty()) {
    out += "None declared.\n";
    return;
  }
  // What is always needed first; the order of the files otherwise.
  std::vector<const DependencyFacts*> all;
  for (const DependencyFacts& dependency : facts.dependencies) all.push_back(&dependency);
  std::ranges::stable_sort(all, {}, [](const DependencyFacts* d) { return !d->group.empty(); });
  Table table("dependencies");
  Column &name = table.text_column("name"), &requirement = table.text_column("requirement"),
         &kind = table.text_column("kind"), &group = table.text_column("group"),
         &where = table.text_column("declared"), &used = table.count_column("used in");
  for (size_t i = 0; i < std::min(all.size(), kDependencies); ++i) {
    const DependencyFacts& d = *all[i];
    name.add(d.name);
    requirement.add(d.requirement);
    kind.add(d.kind);
    group.add(d.group);
    where.add(d.at.line == 0 ? std::string("nowhere") : place_text(facts, d.at));
    used.add(d.used_at.empty() ? std::optional<int64_t>() : static_cast<int64_t>(d.used_at.size()));
  }
  MarkdownTableStyle style{{"name", "requirement", "declared"}, {}};
  style.max_characters = 80;
  out += md_table(table, style);
  out += rest_note(all.size(), kDependencies, "dependencies");
}

}  // namespace

std::string quick_scan_markdown(const CodeFacts& facts) {
  std::string out;
  add_headline(facts, out);
  add_readme(facts, out);
  add_entry_points(facts, out);
  add_configuration(facts, out);
  add_folders(facts, out);
  add_languages(facts, out);
  add_dependencies(facts, out);
  if (!facts.notes.empty()) out += "\n## Notes\n\n";
  for (const std::string& note : facts.notes) out += fmt::format("- {}\n", md_text(note));
  return out;
}

}  // namespace fathom
