#include "session/code/scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/closest_names.h"
#include "base/content_stamp.h"
#include "base/count_text.h"
#include "base/glob.h"
#include "base/hash.h"
#include "base/screen_text.h"
#include "report/csv.h"
#include "report/page/documents_page.h"
#include "report/scan/expected_measured_text.h"
#include "scan/files/source_text.h"
#include "session/code/measured.h"
#include "session/code/page_kernels.h"
#include "story/source_outlines.h"
#include "story/tell_stories.h"

namespace fathom {

namespace fs = std::filesystem;

namespace {

constexpr const char* kJson = "scan.json";
constexpr const char* kCompared = "expected_vs_measured.csv";
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

namespace {

// What a scan's report depends on: the content of every file, the program, and what was asked for.
// A report that has the same stamp need not be made again. None: counters come from a pipe, whose
// content is not known before it is read.
std::optional<uint64_t> scan_stamp(const Repository& repository, const StoryContext& context,
                                   const std::vector<std::string>& counters,
                                   const fs::path& directory, bool page) {
  std::string asked =
      fmt::format("{}\n{}\n{}\n{}\n", repository.name, directory.string(), context.kernels, page);
  for (const auto& [name, value] : context.parameters.given()) asked += name + "=" + value + "\n";
  if (context.platform != nullptr) asked += platform_json(*context.platform);
  if (const auto program = stamp_of("/proc/self/exe")) {
    asked += fmt::format("{} {}", program->size, program->content);
  }
  for (const std::string& path : counters) {
    const std::optional<ContentStamp> file = stamp_of(path);
    if (!file) return {};
    asked += fmt::format("{} {} {}\n", path, file->size, file->content);
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

// The report in the directory, where that has this stamp and every file of it is as it was written;
// none: it is another's, or not whole.
std::optional<KeptScan> same_scan(const fs::path& directory, uint64_t stamp) {
  const std::optional<ReportManifest> manifest = verified_report(directory);
  if (!manifest || manifest->stamp != stamp || !manifest->files.contains(kScreen)) return {};
  const Result<std::string> screen = read_source_text(directory / kScreen, UINT32_MAX);
  if (!screen.ok()) return {};
  return KeptScan{directory, screen.value()};
}

// A pattern that matches no kernel is a usage error.
Status check_pattern(const std::string& pattern, const CodeFacts& facts) {
  const auto fits = [&](const KernelFacts& kernel) { return glob_matches(pattern, kernel.name); };
  if (pattern.empty() || std::ranges::any_of(facts.kernels, fits)) return Nothing{};
  std::vector<std::string> names;
  for (const KernelFacts& kernel : facts.kernels) names.push_back(kernel.name);
  if (names.empty()) return Error{fmt::format("--kernel {}: no kernels were found", pattern)};
  return Error{fmt::format("--kernel {} matches none of {}; list them with --select kernels{}",
                           pattern, counted(names.size(), "kernel"), did_you_mean(pattern, names))};
}

// The stamp is kept for the next scan.
Status write_scan(const ScanRequest& request, const fs::path& root, uint64_t stamp,
                  ScanResult& result) {
  const OutputPlace& place = request.place;
  OutputDirectory out = TRY(OutputDirectory::create(place));
  ReportListing& written = result.written;
  TRY(out.write_file(kJson, scan_json(result.report)));
  written.files = {kJson};
  DocumentsPage shown{"scan", result.report.facts.repository, "", {}, {}, {}, {}};
  for (ReportPage& page : scan_pages(result.report)) {
    TRY(out.write_file(page.path, page.text));
    written.files.push_back(page.path);
    if (request.page) shown.documents.push_back({page.path, std::move(page.text)});
  }
  if (!result.report.measured.empty()) {
    TRY(out.write_file(kCompared, to_csv(compared_sheet(result.report.measured))));
    written.files.emplace_back(kCompared);
    if (request.page) shown.tables.push_back(compared_sheet(result.report.measured));
  }
  if (request.page) {
    add_page_kernels(result.report.facts, root, shown);
    TRY(out.write_file("report.html", documents_page(shown)));
    written.files.emplace_back("report.html");
  }
  written.directory = shown_directory(place.path).string();
  constexpr TerminalStyle kPlain = {false, false, 100};
  TRY(out.write_file(kScreen, scan_text(result.report, kPlain, written)));
  result.notes = TRY(out.commit(stamp));
  return Nothing{};
}

}  // namespace

Result<ScanResult> scan(const ScanRequest& request) {
  StoryContext context;
  context.parameters = TRY(Parameters::parse(request.parameters));
  context.kernels = request.kernels;
  std::optional<Platform> platform;
  if (!request.platform.empty()) {
    platform = TRY(open_platform(request.platform));
    context.platform = &*platform;
  }
  const Repository repository = TRY(list_repository(request.repository, request.threads));
  std::optional<uint64_t> stamp;
  if (request.reuses || request.writes)
    stamp = scan_stamp(repository, context, request.counters, request.place.path, request.page);
  ScanResult result;
  if (request.reuses && stamp) result.kept = same_scan(request.place.path, *stamp);
  if (result.kept) return result;
  ScanOptions options;
  options.threads = request.threads;
  options.progress = request.progress;
  CodeFacts& facts = result.report.facts;
  facts = scan_repository(repository, options);
  TRY(check_pattern(request.kernels, facts));
  for (const std::string& name : context.parameters.unused_in(facts)) {
    result.warnings.push_back(
        fmt::format("--param {}: no launch uses this name; ignored", screen_safe(name)));
  }
  SourceOutlines sources(repository.root, facts.files);
  result.report.stories = tell_stories(facts, context, &sources);
  if (!request.counters.empty()) {
    MeasureRequest measure;
    measure.files = request.counters;
    measure.code = &facts;
    measure.parameters = &context.parameters;
    measure.sources = &sources;
    measure.platform = context.platform;
    measure.threads = request.threads;
    result.report.measured = TRY(measure_kernels(measure));
  }
  if (request.writes) TRY(write_scan(request, repository.root, stamp.value_or(0), result));
  return result;
}

Result<std::string> scan_json(const ScanResult& result, const std::vector<std::string>& parts) {
  if (result.kept) return read_source_text(result.kept->directory / kJson, UINT32_MAX);
  return scan_json(result.report, parts);
}

}  // namespace fathom
