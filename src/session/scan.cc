#include "session/scan.h"

#include <fmt/format.h>

#include "base/content_stamp.h"
#include "base/hash.h"
#include "scan/files/source_text.h"

namespace fathom {

namespace fs = std::filesystem;

namespace {

constexpr const char* kScreen = "summary.txt";  // what the scan prints

}  // namespace

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
      return Error{fmt::format("{} has no parent folder for the report; set --out", repository)};
    }
  }
  return path += ".fathom-scan";
}

uint64_t scan_stamp(const Repository& repository, const StoryContext& context,
                    const fs::path& directory) {
  std::string asked =
      fmt::format("{}\n{}\n{}\n", repository.name, directory.string(), context.kernels);
  for (const auto& [name, value] : context.parameters.given()) asked += name + "=" + value + "\n";
  if (context.platform != nullptr) asked += platform_json(*context.platform);
  if (const auto program = stamp_of("/proc/self/exe")) {
    asked += fmt::format("{} {}", program->size, program->content);
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

std::optional<std::string> screen_of_same_scan(const fs::path& directory, uint64_t stamp) {
  const std::optional<ReportManifest> manifest = verified_report(directory);
  if (!manifest || manifest->stamp != stamp || !manifest->files.contains(kScreen)) return {};
  const Result<std::string> screen = read_source_text(directory / kScreen, UINT32_MAX);
  return screen.ok() ? std::optional(screen.value()) : std::nullopt;
}

Result<std::vector<std::string>> write_scan(ScanReport& report, const OutputPlace& place,
                                            uint64_t stamp) {
  OutputDirectory out = TRY(OutputDirectory::create(place));
  TRY(out.write_file("scan.json", scan_json(report.facts)));
  report.files = {"scan.json"};
  for (const ReportPage& page : scan_pages(report.facts, report.context)) {
    TRY(out.write_file(page.path, page.text));
    report.files.push_back(page.path);
  }
  report.report = shown_directory(place.path).string();
  constexpr TerminalStyle kPlain = {false, false, 100};
  TRY(out.write_file(kScreen, scan_text(report, kPlain)));
  return out.commit(stamp);
}

}  // namespace fathom
