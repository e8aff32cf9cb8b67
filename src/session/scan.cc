#include "session/scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/output_directory.h"
#include "report/features_markdown.h"

namespace fathom {

namespace fs = std::filesystem;

Result<fs::path> default_scan_directory(const std::string& repository) {
  fs::path path = fs::path(repository).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "repository/"
  const fs::path name = path.filename();
  if (name.empty() || name == "." || name == "..") {
    std::error_code error;
    path = fs::canonical(repository, error);
    if (error) {
      return Error{fmt::format("cannot open {}: {}", repository, error.message())};
    }
    if (!path.has_filename()) {
      return Error{fmt::format("there is no place beside {}; choose one with --out", repository)};
    }
  }
  return path += ".fathom-scan";
}

Status check_scan_directory(const std::string& repository, const fs::path& directory) {
  std::error_code error;
  const fs::path root = fs::canonical(repository, error);
  if (error) return Error{fmt::format("cannot open {}: {}", repository, error.message())};
  fs::path place = fs::weakly_canonical(fs::absolute(directory, error), error);
  if (!place.has_filename()) place = place.parent_path();
  const auto [rest, _] = std::mismatch(root.begin(), root.end(), place.begin(), place.end());
  if (rest != root.end()) return Nothing{};
  return Error{fmt::format(
      "{} lies inside the repository, where Fathom never writes; choose another place with --out",
      directory.string())};
}

Status write_scan(ScanReport& report, const fs::path& directory, const WriteScanOptions& options) {
  OutputDirectory out =
      TRY(options.into_any_directory ? OutputDirectory::create_or_add_to(directory)
                                     : OutputDirectory::create(directory));
  TRY(out.write_file("scan.json", scan_json(report.facts)));
  TRY(out.write_file("quick_scan.md", quick_scan_markdown(report.facts)));
  TRY(out.write_file("kernels.md", kernels_markdown(report.facts, report.context)));
  TRY(out.write_file("features.md", features_markdown(report.facts)));
  TRY(out.write_file("repo_analysis.md", repo_analysis_markdown(report.facts)));
  TRY(out.write_file("architecture.md", architecture_markdown(report.facts)));
  TRY(out.commit());
  report.report = (directory.has_filename() ? directory : directory.parent_path()).string();
  report.files = {"quick_scan.md", "repo_analysis.md", "architecture.md",
                  "features.md",   "kernels.md",       "scan.json"};
  return Nothing{};
}

}  // namespace fathom
