#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "report/markdown.h"
#include "report/scan/inventory_pages.h"
#include "report/scan/scan_counts.h"
#include "report/scan/scan_report.h"
#include "scan/facts/fact_names.h"
#include "scan/files/language.h"
#include "scan/files/origin.h"

namespace fathom {
namespace {

constexpr size_t kFolders = 20, kKeyModules = 12, kOfKind = 7, kParts = 18, kKeyDependencies = 16,
                 kClaims = 12;

std::string rest_note(size_t all, size_t shown, std::string_view list) {
  if (all <= shown) return "";
  return fmt::format("\n{} more in [scan.json](scan.json), `{}`.\n", number_text(all - shown),
                     list);
}

std::string folder_name(const std::string& path) { return path.empty() ? "(root)" : path; }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "Python, CUDA; foremost `engine.py`, `graph.py`": from the languages and the ranked modules.
std::string content_of(const CodeFacts& facts, const FolderCount& folder) {
  std::vector<std::pair<size_t, Language>> languages;
  for (const auto& [language, lines] : folder.languages) {
    if (language != Language::kNone && lines > 0) languages.emplace_back(lines, language);
  }
  std::ranges::sort(languages, [](const auto& a, const auto& b) {
    return std::tuple(b.first, a.second) < std::tuple(a.first, b.second);
  });
  std::string out;
  for (size_t i = 0; i < std::min<size_t>(languages.size(), 3); ++i)
    out += (i == 0 ? "" : ", ") + std::string(language_name(languages[i].second));
  if (folder.origin != Origin::kOwn) return out + "; " + std::string(origin_name(folder.origin));
  std::vector<std::string> best;
  for (const ModuleFacts& module : facts.modules.modules) {
    const std::string& path = facts.files[module.file].path;
    if (path.starts_with(folder.path) && best.size() < 3)
      best.push_back(md_code_cell(file_name(path)));
  }
  if (!best.empty()) out += fmt::format("; mainly {}", fmt::join(best, ", "));
  return out;
}

void add_structure(const CodeFacts& facts, std::string& out) {
  out += "\n## Directory structure\n\n";
  const std::vector<FolderCount> folders = key_folders(facts, kFolders);
  if (folders.empty()) {
    out += "All files are at the root.\n";
    return;
  }
  Table table("folders");
  Column &path = table.text_column("folder"), &files = table.count_column("files"),
         &lines = table.count_column("lines"), &kernels = table.count_column("kernels"),
         &entries = table.count_column("entry points"), &options = table.count_column("options"),
         &contents = table.text_column("holds");
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
    contents.add(content_of(facts, folder));
  }
  out += md_table(table, {.code_columns = {"folder"}, .markdown_columns = {"holds"}});
}

void add_modules(const CodeFacts& facts, std::string& out) {
  const ModuleGraph& graph = facts.modules;
  out += "\n## Key modules\n\n";
  if (graph.modules.empty()) {
    out += "No file imports or includes another, and none defines a kernel.\n";
    return;
  }
  out += fmt::format(
      "Ranked by {} between first-party files, without tests, benchmarks and examples. Derived "
      "score: half PageRank over imports and includes, a quarter calls into the file, a quarter "
      "kernels defined in it or reached through it; the best is 1.\n\n",
      counted(graph.edges, "import or include", "imports and includes"));
  Table table("modules");
  Column &file = table.text_column("module"), &score = table.text_column("score"),
         &why = table.text_column("why"), &where = table.text_column("first import");
  for (size_t i = 0; i < std::min(graph.modules.size(), kKeyModules); ++i) {
    const ModuleFacts& module = graph.modules[i];
    file.add(facts.files[module.file].path);
    score.add(fmt::format("{:.2f}", module.score));
    why.add(module_reason(module));
    where.add(module.first_import.line == 0 ? std::string()
                                            : place_text(facts, module.first_import));
  }
  out += md_table(
      table, {.code_columns = {"module", "first import"}, .markdown_columns = {"score", "why"}});
  out += rest_note(graph.modules.size(), kKeyModules, "modules.key");
}

void add_api_kind(const CodeFacts& facts, EntryKind kind, std::string_view title,
                  std::string& out) {
  std::vector<const ApiFacts*> all;
  for (const ApiFacts& api : facts.api) {
    if (api.kind == kind) all.push_back(&api);
  }
  if (all.empty()) return;
  // What the repository's own code, tests and examples use most is what people come for.
  std::ranges::stable_sort(all, std::greater(), [](const ApiFacts* api) { return api->used_in; });
  out += fmt::format("\n### {} ({})\n\n", title, number_text(all.size()));
  Table table("api");
  Column &name = table.text_column("name"), &signature = table.text_column("signature"),
         &where = table.text_column("where"), &used = table.count_column("imported in");
  for (size_t i = 0; i < std::min(all.size(), kOfKind); ++i) {
    const ApiFacts& api = *all[i];
    name.add(api.name);
    signature.add(api.signature);
    where.add(place_text(facts, api.at));
    used.add(api.used_in == 0 ? std::optional<int64_t>() : static_cast<int64_t>(api.used_in));
  }
  MarkdownTableStyle style{{"name", "signature", "where"}, {}};
  style.max_characters = 100;
  out += md_table(table, style);
  out += rest_note(all.size(), kOfKind, "api");
}

void add_api(const CodeFacts& facts, std::string& out) {
  out += "\n## API surface\n";
  if (facts.api.empty()) {
    out += "\nNo public API found: no package, binding, route or console script.\n";
    return;
  }
  add_api_kind(facts, EntryKind::kConsoleScript, "Console scripts", out);
  add_api_kind(facts, EntryKind::kCommand, "Commands", out);
  add_api_kind(facts, EntryKind::kHttpRoute, "HTTP routes", out);
  add_api_kind(facts, EntryKind::kFunction, "Functions that packages export", out);
  add_api_kind(facts, EntryKind::kClass, "Classes that packages and headers export", out);
  add_api_kind(facts, EntryKind::kBinding, "C++ functions bound for other languages", out);
  add_api_kind(facts, EntryKind::kHeaderFunction, "Host functions of headers under include/", out);
}

void add_internal(const CodeFacts& facts, std::string& out) {
  const std::vector<FolderFacts>& parts = facts.modules.parts;
  out += "\n### Internal\n\n";
  if (parts.size() < 2) {
    out += "The code has a single part.\n";
    return;
  }
  if (std::ranges::all_of(parts, [](const FolderFacts& part) { return part.imports.empty(); })) {
    out += fmt::format("None of the {} parts imports or includes another.\n", parts.size());
    return;
  }
  Table table("parts");
  Column &path = table.text_column("part"), &imports = table.text_column("imports (count)"),
         &first = table.text_column("first at"), &by = table.count_column("imported by parts");
  for (size_t i = 0; i < std::min(parts.size(), kParts); ++i) {
    std::vector<ModuleEdge> edges = parts[i].imports;
    std::ranges::stable_sort(edges, std::greater(), &ModuleEdge::count);
    std::string text;
    for (size_t e = 0; e < std::min<size_t>(edges.size(), 5); ++e)
      text += fmt::format("{}{} ({})", e == 0 ? "" : ", ",
                          md_code_cell(folder_name(parts[edges[e].to].path)), edges[e].count);
    if (edges.size() > 5) text += fmt::format(", {} more", edges.size() - 5);
    path.add(folder_name(parts[i].path));
    imports.add(text);
    first.add(edges.empty() ? std::string() : place_text(facts, edges[0].first));
    by.add(static_cast<int64_t>(parts[i].imported_by));
  }
  out += md_table(table,
                  {.code_columns = {"part", "first at"}, .markdown_columns = {"imports (count)"}});
}

void add_third_party(const CodeFacts& facts, std::string& out) {
  out += "\n### Third-party\n\n";
  if (facts.dependencies.empty()) {
    out += "No dependencies declared or imported.\n";
    return;
  }
  std::vector<const DependencyFacts*> all;
  for (const DependencyFacts& dependency : facts.dependencies) all.push_back(&dependency);
  std::ranges::stable_sort(all, std::greater(), [](const DependencyFacts* d) {
    return std::tuple(d->group.empty(), d->used_at.size());
  });
  Table table("dependencies");
  Column &name = table.text_column("name"), &requirement = table.text_column("requirement"),
         &kind = table.text_column("kind"), &declared = table.text_column("declared"),
         &used = table.text_column("used");
  for (size_t i = 0; i < std::min(all.size(), kKeyDependencies); ++i) {
    const DependencyFacts& d = *all[i];
    name.add(d.name);
    requirement.add(d.requirement);
    const std::string of_kind(dependency_kind_name(d.kind));
    kind.add(d.group.empty() ? of_kind : of_kind + ", " + d.group);
    declared.add(d.at.line == 0 ? std::string("not declared") : place_text(facts, d.at));
    used.add(uses_cell(facts, d));
  }
  MarkdownTableStyle style{.code_columns = {"name", "requirement", "declared"},
                           .markdown_columns = {"used"}};
  style.max_characters = 100;
  out += md_table(table, style);
  if (all.size() > kKeyDependencies) {
    out += fmt::format("\n{} more in [dependencies.md](dependencies.md).\n",
                       number_text(all.size() - kKeyDependencies));
  }
}

void add_claims(const CodeFacts& facts, std::string& out) {
  out += "\n## Where documentation and code disagree\n\n";
  if (facts.doc_claims.empty()) {
    out +=
        "No disagreement found. Checked: options and scripts in commands that run this "
        "repository's "
        "programs, its environment "
        "variables, paths and links, stated defaults.\n";
    return;
  }
  Table table("claims");
  Column &kind = table.text_column("what"), &what = table.text_column("name"),
         &doc = table.text_column("documented at"), &said = table.text_column("documentation"),
         &is = table.text_column("code"), &where = table.text_column("code at"),
         &certainty = table.text_column("confidence");
  for (size_t i = 0; i < std::min(facts.doc_claims.size(), kClaims); ++i) {
    const DocClaim& claim = facts.doc_claims[i];
    kind.add(claim_kind_name(claim.kind));
    what.add(claim.what);
    doc.add(place_text(facts, claim.doc));
    said.add(claim.said);
    is.add(claim.is);
    where.add(claim.code ? place_text(facts, *claim.code) : std::string());
    certainty.add(std::string(certainty_name(claim.certainty)));
  }
  out += md_table(table, {{"name", "documented at", "code at"}, {}});
  out += rest_note(facts.doc_claims.size(), kClaims, "doc_claims");
  const bool abbreviated = std::ranges::any_of(
      facts.doc_claims, [](const DocClaim& c) { return c.kind == ClaimKind::kOptionAbbreviated; });
  if (abbreviated) {
    out +=
        "\nAn abbreviated option works as long as the parser accepts beginnings and no other "
        "option begins so: argparse "
        "does unless `allow_abbrev` is off.\n";
  }
}

}  // namespace

std::string repo_analysis_markdown(const CodeFacts& facts) {
  SizeCount all;
  for (const SourceFile& file : facts.files) all.add(file);
  std::string out = fmt::format("# Repository analysis: {}\n\n", md_text(facts.repository));
  out += fmt::format(
      "{} · {} · {} of first-party code · {} · {}\n\n", counted(all.files, "file", "files"),
      counted(all.lines, "line", "lines"),
      counted(facts.modules.folders.size(), "folder", "folders"),
      counted(facts.api.size(), "API name", "API names"),
      counted(facts.doc_claims.size(), "documentation mismatch", "documentation mismatches"));
  out +=
      "Each row is a code fact with its location, or marked derived. How the parts work "
      "together: "
      "[architecture.md](architecture.md). Everything: [scan.json](scan.json).\n";
  add_structure(facts, out);
  add_modules(facts, out);
  add_api(facts, out);
  out += "\n## Dependencies\n";
  add_internal(facts, out);
  add_third_party(facts, out);
  add_claims(facts, out);
  return out;
}

}  // namespace fathom
