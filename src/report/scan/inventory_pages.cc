#include "report/scan/inventory_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/count_text.h"
#include "base/screen_text.h"
#include "base/text_parts.h"
#include "report/markdown.h"
#include "report/scan/ranking.h"
#include "report/scan/scan_counts.h"
#include "scan/facts/fact_names.h"

namespace fathom {
namespace {

// Of one list; a page stays readable, scan.json has everything.
constexpr size_t kRows = 2000;
// A page of options/ larger than this is divided.
constexpr size_t kPageBytes = 150'000;

std::string rest_note(size_t all, std::string_view list) {
  if (all <= kRows) return "";
  return fmt::format("\n{} more in [scan.json](scan.json), `{}`.\n", number_text(all - kRows),
                     list);
}

void add_entries_of_kind(const CodeFacts& facts, EntryKind kind,
                         const std::vector<RankedEntry>& all, std::string& out) {
  Table table("entry_points");
  Column &start = table.text_column("name or command"), &runs = table.text_column("runs"),
         &where = table.text_column("where"), &kernels = table.count_column("kernels reached");
  size_t count = 0;
  for (const RankedEntry& ranked : all) {
    const EntryPoint& entry = facts.entry_points[ranked.entry];
    if (entry.kind != kind || ++count > kRows) continue;
    start.add(entry.command.empty() ? entry.name : entry.command);
    runs.add(entry.target);
    where.add(place_text(facts, entry.at));
    kernels.add(ranked.kernels ? std::optional<int64_t>(*ranked.kernels)
                               : std::optional<int64_t>());
  }
  out += fmt::format("\n## {}s ({})\n\n{}{}", entry_kind_title(kind), number_text(count),
                     md_table(table, {{"name or command", "runs", "where"}, {}}),
                     rest_note(count, "entry_points"));
}

std::string option_rows(const CodeFacts& facts, const std::vector<const OptionFacts*>& options) {
  Table table("options");
  Column &name = table.text_column("name"), &kind = table.text_column("kind"),
         &type = table.text_column("type"), &value = table.text_column("default"),
         &help = table.text_column("what"), &line = table.count_column("line"),
         &reader = table.text_column("read by");
  for (const OptionFacts* option : options) {
    name.add(option->name);
    kind.add(option_kind_name(option->kind));
    type.add(option->type);
    value.add(option->default_value);
    std::string text = option->effect;
    if (!text.empty() && !option->help.empty()) text += ". ";
    text += option->help;
    if (screen_width(text) > 80) text = fit_left(text, 80);
    help.add(md_prose_cell(text));
    line.add(static_cast<int64_t>(option->at.line));
    reader.add(option->component.empty()
                   ? std::string()
                   : md_code_cell(option->component) + (option->read_by_name ? " (by name)" : ""));
  }
  MarkdownTableStyle style{.code_columns = {"name", "type", "default"},
                           .markdown_columns = {"what", "read by"}};
  style.max_characters = 60;
  return fmt::format("\n## {}\n\n{}", md_code(facts.files[options[0]->at.file].path),
                     md_table(table, style));
}

std::string options_heading(const CodeFacts& facts) {
  return fmt::format(
      "# Options: {}\n\n{}: {}. Ordered by declaring file; "
      "defaults are quoted from the code. Techniques they affect: "
      "[features.md](features.md).\n",
      md_text(facts.repository), counted(facts.options.size(), "option", "options"),
      joined_counts(count_option_kinds(facts)));
}

struct DependencyList {
  std::string title;
  std::vector<const DependencyFacts*> rows;
};

void add_dependency_list(const CodeFacts& facts, const DependencyList& list, std::string& out) {
  if (list.rows.empty()) return;
  Table table("dependencies");
  Column &name = table.text_column("name"), &requirement = table.text_column("requirement"),
         &kind = table.text_column("kind"), &group = table.text_column("group"),
         &where = table.text_column("declared"), &used = table.text_column("used");
  for (size_t i = 0; i < std::min(list.rows.size(), kRows); ++i) {
    const DependencyFacts& d = *list.rows[i];
    name.add(d.name);
    requirement.add(d.requirement);
    kind.add(dependency_kind_name(d.kind));
    group.add(d.group);
    where.add(d.at.line == 0 ? std::string() : place_text(facts, d.at));
    used.add(uses_cell(facts, d));
  }
  MarkdownTableStyle style{.code_columns = {"name", "requirement", "declared"},
                           .markdown_columns = {"used"}};
  style.max_characters = 80;
  out += fmt::format("\n## {}\n\n{}{}", list.title, md_table(table, style),
                     rest_note(list.rows.size(), "dependencies"));
}

}  // namespace

std::string uses_cell(const CodeFacts& facts, const DependencyFacts& dependency) {
  const auto& uses = dependency.used_at;
  if (uses.empty()) return {};
  return fmt::format("{}{}, first {}", uses.size() >= 20 ? "at least " : "",  // the list ends there
                     counted(uses.size(), "file", "files"),
                     md_code_cell(place_text(facts, uses[0])));
}

std::string entry_kind_title(EntryKind kind) {
  if (kind == EntryKind::kMain) return "Python program";
  if (kind == EntryKind::kCppMain) return "C++ program";
  if (kind == EntryKind::kHttpRoute) return "HTTP route";
  std::string out(entry_kind_name(kind));
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

std::vector<ReportPage> entry_point_pages(const CodeFacts& facts) {
  if (facts.entry_points.empty()) return {};
  std::string text = fmt::format(
      "# Entry points: {}\n\n{}. Each kind lists the product's own first, then those in folders "
      "for tests, tools and development; *kernels reached* is filled in if a request path was "
      "resolved "
      "([architecture.md](architecture.md#request-path)).\n",
      md_text(facts.repository), counted(facts.entry_points.size(), "entry point", "entry points"));
  const std::vector<RankedEntry> ranked = ranked_entries(facts);
  std::vector<EntryKind> done;
  for (const RankedEntry& entry : ranked) {
    const EntryKind kind = facts.entry_points[entry.entry].kind;
    if (contains(done, kind)) continue;
    done.push_back(kind);
    add_entries_of_kind(facts, kind, ranked, text);
  }
  return {{"entry_points.md", std::move(text)}};
}

std::vector<ReportPage> option_pages(const CodeFacts& facts) {
  if (facts.options.empty()) return {};
  std::map<uint32_t, std::vector<const OptionFacts*>> by_file;
  for (const OptionFacts& option : facts.options) by_file[option.at.file].push_back(&option);
  std::vector<FileSection> sections;
  std::vector<std::string> texts;
  std::vector<size_t> counts;
  size_t bytes = 0;
  for (const auto& [file, options] : by_file) {
    texts.push_back(option_rows(facts, options));
    counts.push_back(options.size());
    sections.push_back({facts.files[file].path, texts.back().size()});
    bytes += texts.back().size();
  }
  std::vector<ReportPage> pages = {{"options.md", options_heading(facts)}};
  if (bytes <= kPageBytes) {
    for (const std::string& text : texts) pages[0].text += text;
    return pages;
  }
  Table table("options");
  Column &folder = table.text_column("declared in"), &options = table.count_column("options"),
         &files = table.count_column("files");
  PageNames names;
  for (const FolderPage& folder_page : pages_by_folder(sections, kPageBytes)) {
    ReportPage page{"options/" + names.add(folder_page.title), ""};
    size_t count = 0;
    std::string rows;
    for (const size_t i : folder_page.sections) {
      count += counts[i];
      rows += texts[i];
    }
    page.text = fmt::format(
        "# Options declared in {}\n\n{} in {}. All: "
        "[options.md](../options.md).\n{}",
        md_code(folder_page.title), counted(count, "option", "options"),
        counted(folder_page.sections.size(), "file", "files"), rows);
    folder.add(md_link_cell(folder_page.title, page.path));
    options.add(static_cast<int64_t>(count));
    files.add(static_cast<int64_t>(folder_page.sections.size()));
    pages.push_back(std::move(page));
  }
  pages[0].text += "\n" + md_table(table, {.markdown_columns = {"declared in"}});
  return pages;
}

std::vector<ReportPage> dependency_pages(const CodeFacts& facts) {
  if (facts.dependencies.empty()) return {};
  DependencyList needed{"Required", {}}, optional{"Optional groups", {}},
      undeclared{"Imported but not declared", {}};
  for (const DependencyFacts& d : facts.dependencies) {
    (d.at.line == 0 ? undeclared : d.group.empty() ? needed : optional).rows.push_back(&d);
  }
  std::string text =
      fmt::format("# Dependencies: {}\n\n{} declared, {} imported but not declared.\n",
                  md_text(facts.repository), number_text(needed.rows.size() + optional.rows.size()),
                  number_text(undeclared.rows.size()));
  add_dependency_list(facts, needed, text);
  add_dependency_list(facts, optional, text);
  add_dependency_list(facts, undeclared, text);
  return {{"dependencies.md", std::move(text)}};
}

}  // namespace fathom
