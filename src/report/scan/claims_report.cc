#include "report/scan/claims_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/utf8.h"
#include "report/markdown.h"
#include "scan/facts/fact_names.h"

namespace fathom {
namespace {

constexpr size_t kUnknownShown = 12, kSubmodulesShown = 4;

std::string place_cell(const CodeFacts& facts, const CodePlace& at) {
  return md_code_cell(place_text(facts, at));
}

// Submodules that have no files here: what they hold was not read.
std::vector<std::string> unread_submodules(const CodeFacts& facts) {
  std::vector<std::string> names;
  for (const DependencyFacts& dependency : facts.dependencies) {
    if (dependency.kind != DependencyKind::kSubmodule) continue;
    const std::string folder = dependency.name + "/";
    const auto file = std::ranges::lower_bound(facts.files, folder, {}, &SourceFile::path);
    if (file == facts.files.end() || !file->path.starts_with(folder))
      names.push_back(md_code_cell(dependency.name));
  }
  return names;
}

std::string absence(const CodeFacts& facts) {
  std::vector<std::string> unread = unread_submodules(facts);
  if (unread.empty()) return "claimed, no evidence in the code";
  if (unread.size() > kSubmodulesShown) {
    const size_t more = unread.size() - kSubmodulesShown;
    unread.resize(kSubmodulesShown);
    unread.push_back(fmt::format("{} more", more));
  }
  return fmt::format("claimed, no evidence in the code; submodules {} were not fetched",
                     fmt::join(unread, ", "));
}

std::string verdict_cell(const CodeFacts& facts, const ReadmeClaim& claim) {
  const std::string package = claim.package_at ? md_code_cell(claim.package) : "";
  switch (claim.verdict) {
    case ClaimVerdict::kFound:
      return fmt::format("found: {} at {}{}", md_code_cell(claim.what),
                         place_cell(facts, *claim.at), package.empty() ? "" : "; with " + package);
    case ClaimVerdict::kDependency:
      return fmt::format("provided by a dependency: {}, imported at {}", package,
                         place_cell(facts, *claim.package_at));
    case ClaimVerdict::kHinted:
      return fmt::format("not decided: {} at {} alone does not show it", md_code_cell(claim.what),
                         place_cell(facts, *claim.at));
    case ClaimVerdict::kAbsent:
      return absence(facts);
    case ClaimVerdict::kUnknown:
      break;
  }
  return "not covered by a rule";
}

std::string_view verdict_name(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::kFound:
      return "found";
    case ClaimVerdict::kDependency:
      return "by a dependency";
    case ClaimVerdict::kHinted:
      return "not decided";
    case ClaimVerdict::kAbsent:
      return "no evidence";
    case ClaimVerdict::kUnknown:
      break;
  }
  return "no rule";
}

}  // namespace

std::string claims_markdown(const CodeFacts& facts) {
  if (facts.readme_claims.empty()) return {};
  std::string out =
      "\n## Claimed in the README\n\nFeatures named in headings, lists and sentences, checked "
      "against "
      "the code.\n\n"
      "| claim | said | verdict |\n| :-- | :-- | :-- |\n";
  std::vector<const ReadmeClaim*> unknown;
  for (const ReadmeClaim& claim : facts.readme_claims) {
    if (claim.verdict == ClaimVerdict::kUnknown) {
      unknown.push_back(&claim);
      continue;
    }
    out += fmt::format("| {} | {} | {} |\n", claim.title, place_cell(facts, claim.doc),
                       verdict_cell(facts, claim));
  }
  if (unknown.empty()) return out;
  out += "\nIn the same lists, not checked because no rule covers them:\n\n";
  for (size_t i = 0; i < std::min(unknown.size(), kUnknownShown); ++i) {
    out += fmt::format("- {} ({})\n", md_text(unknown[i]->said),
                       md_code(place_text(facts, unknown[i]->doc)));
  }
  if (unknown.size() > kUnknownShown) {
    out += fmt::format("- {} more in scan.json\n", unknown.size() - kUnknownShown);
  }
  return out;
}

void write_readme_claims(JsonWriter& json, const CodeFacts& facts) {
  json.begin_array();
  for (const ReadmeClaim& claim : facts.readme_claims) {
    JsonWriter line(false);
    const auto text = [&line](std::string_view key, std::string_view value) {
      if (!value.empty()) line.key(key).value(with_valid_utf8(value));
    };
    const auto place = [&](std::string_view file, std::string_view number, const CodePlace& at) {
      text(file, facts.files[at.file].path);
      line.key(number).value(static_cast<int64_t>(at.line));
    };
    line.begin_object();
    text("rule", claim.rule);
    text("title", claim.title);
    text("said", claim.said);
    place("doc_file", "doc_line", claim.doc);
    text("verdict", verdict_name(claim.verdict));
    text("what", claim.what);
    if (claim.at) place("file", "line", *claim.at);
    text("package", claim.package);
    if (claim.package_at) place("package_file", "package_line", *claim.package_at);
    line.end_object();
    json.raw(line.take());
  }
  json.end_array();
}

}  // namespace fathom
