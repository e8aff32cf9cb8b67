#include "session/scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/content_stamp.h"
#include "base/hash.h"
#include "base/output_directory.h"
#include "scan/source_text.h"

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

uint64_t scan_stamp(const Repository& repository, const StoryContext& context,
                    const fs::path& directory) {
  std::string asked =
      fmt::format("{}\n{}\n{}\n", repository.name, directory.string(), context.kernels);
  for (const auto& [name, value] : context.parameters.given()) asked += name + "=" + value + "\n";
  if (context.platform != nullptr) asked += platform_json(*context.platform);
  if (const auto program = glance_at("/proc/self/exe")) {
    asked += fmt::format("{} {} {}", program->size, program->modified, program->sample);
  }
  uint64_t stamp = hash_text(asked);
  for (const SourceFile& file : repository.files) {
    stamp = mix_bits(stamp, hash_text(file.path));
    stamp = mix_bits(stamp, hash_text(file.skipped));
    stamp = mix_bits(stamp ^ file.size, file.content_hash);
  }
  for (const std::string& note : repository.notes) stamp = mix_bits(stamp, hash_text(note));
  return stamp;
}

namespace {

// The first lines of summary.txt: the stamp, then the files of the report.
std::string stamp_line(uint64_t stamp) { return fmt::format("fathom scan {:016x}\n", stamp); }
constexpr std::string_view kFiles = "files:";

// Names of report files have no blanks (PageNames).
bool has_all_files(const fs::path& directory, std::string_view names) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    std::error_code error;
    if (!name.empty() && !fs::is_regular_file(directory / name, error)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> screen_of_same_scan(const fs::path& directory, uint64_t stamp) {
  const Result<std::string> read = read_source_text(directory / "summary.txt");
  const std::string line = stamp_line(stamp);
  if (!read.ok()) return std::nullopt;
  std::string_view text = read.value();
  if (!text.starts_with(line)) return std::nullopt;
  text.remove_prefix(line.size());
  const size_t end = text.find('\n');
  if (!text.starts_with(kFiles) || end == std::string_view::npos) return std::nullopt;
  if (!has_all_files(directory, text.substr(kFiles.size(), end - kFiles.size())))
    return std::nullopt;
  return std::string(text.substr(end + 1));
}

Status write_scan(ScanReport& report, const fs::path& directory, const WriteScanOptions& options) {
  OutputDirectory out =
      TRY(options.into_any_directory ? OutputDirectory::create_or_add_to(directory)
                                     : OutputDirectory::create(directory));
  TRY(out.write_file("scan.json", scan_json(report.facts)));
  report.files = {"scan.json"};
  for (const ReportPage& page : scan_pages(report.facts, report.context)) {
    TRY(out.write_file(page.path, page.text));
    report.files.push_back(page.path);
  }
  report.report = (directory.has_filename() ? directory : directory.parent_path()).string();
  if (options.stamp) {
    constexpr TerminalStyle kPlain = {false, false, 100};
    TRY(out.write_file("summary.txt",
                       fmt::format("{}{} {}\n{}", stamp_line(*options.stamp), kFiles,
                                   fmt::join(report.files, " "), scan_text(report, kPlain))));
  }
  TRY(out.commit());
  return Nothing{};
}

}  // namespace fathom
