#include "session/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <span>

#include "analyze/idle_sheets.h"
#include "base/threads.h"
#include "replay/python_text.h"
#include "report/csv.h"
#include "report/trace/analysis_page.h"
#include "report/trace/kernel_pages.h"
#include "report/trace/kernel_sources_markdown.h"
#include "report/trace/run_story.h"
#include "report/trace/xlsx.h"
#include "session/counters.h"
#include "session/hardware_summary.h"
#include "session/steady_input.h"
#include "session/story.h"
#include "session/summarize.h"
#include "session/summarize_path.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Ops over 10 % of compute and under 30 % of the limit: what a kernel team should look at.
std::vector<PackageInReport> package_slow_ops(const Trace& trace, const SheetInput& input,
                                              const Assessment& assessment) {
  constexpr double kLarge = 0.10, kSlow = 0.30;
  constexpr size_t kCases = 20;
  std::vector<std::string_view> wanted;
  for (const TopOp& op : assessment.top_ops()) {
    if (op.share > kLarge && op.efficiency && *op.efficiency < kSlow) wanted.push_back(op.name);
  }
  std::vector<PackageInReport> packages;
  if (wanted.empty()) return packages;
  const ReplaySource source{fs::path(trace.path).filename().string(),
                            gpu_names(trace.store.metadata().gpus)};
  for (const ReplayOp& op : find_replay_ops(input, wanted).ops) {
    if (op.cases.empty()) continue;
    packages.push_back({fmt::format("replay_packages/{}_replay_package.zip", file_name_of(op.name)),
                        make_replay_package(op, source, kCases)});
  }
  return packages;
}

// Those of several inputs are counted together.
void add_diagnostics(const CounterFile& file, Summary& summary) {
  Diagnostics all;
  for (const Diagnostic& known : summary.diagnostics)
    all.add(known.flaw, known.example, known.count);
  for (const Diagnostic& found : file.set.diagnostics().all())
    all.add(found.flaw, file.name + ": " + found.example, found.count);
  summary.diagnostics = all.all();
}

// What counters add to the summary and the sheets; returns the files about them.
std::vector<ReportFile> report_counters(const Trace& trace, const SheetInput& input,
                                        const std::vector<KernelContext>& contexts,
                                        const Platform* platform, const AnalyzeOptions& options,
                                        Analysis& analysis) {
  Summary& summary = analysis.summary;
  summary.counters = summarize_counters(input);
  for (const CounterFile& file : *options.counters) add_diagnostics(file, summary);
  std::vector<ReportFile> files = {
      counter_values_file(*options.counters, summary.counters->left_out)};
  summary.counters->bottlenecks = summarize_bottlenecks(contexts);
  std::vector<ReportFile> pages;
  if (options.code != nullptr) {
    KnownCode::Compared compared = options.code->compare(
        {input, contexts, platform, options.samples, fs::path(trace.path).filename().string()});
    summary.counters->expected = compared.counts;
    analysis.sheets.push_back(std::move(compared.sheet));
    files.push_back({"expected_vs_measured.md", std::move(compared.page)});
    pages = kernel_pages(contexts, compared.parts);
  } else {
    pages = kernel_pages(contexts);
  }
  for (ReportFile& page : pages) files.push_back(std::move(page));
  return files;
}

}  // namespace

Result<Analysis> analyze(const Trace& trace, const Scope& scope, const AnalyzeOptions& options) {
  TRY(check_has_events(trace));
  const CodeFacts* code = options.code != nullptr ? &options.code->facts() : nullptr;
  const bool has_counters = options.counters != nullptr && !options.counters->empty();
  KernelMeasures measures = code != nullptr ? KernelMeasures(trace.store, *code) : KernelMeasures();
  if (has_counters) measures.add_counters(trace.store, *options.counters);
  if (options.samples != nullptr) measures.add_samples(*options.samples);
  const SheetInput input(trace.store, trace.tree, scope, std::move(measures));
  TRY(check_scope(input, trace.path));
  const std::vector<Launcher> launchers = find_launchers(input);
  const Platform* platform =
      options.platform != nullptr ? options.platform : detect_platform(trace);
  const Platform* recorded_on = detect_platform(trace);
  const std::vector<KernelContext> contexts =
      kernel_contexts(input, recorded_on != nullptr ? recorded_on : platform, kMostContexts);
  // Sheets that need no costs do not wait for them, nor any sheet for the findings.
  const bool beside = options.threads != 1;
  const MeasuredOpsLater ops = start_beside(
                                   [&]() -> std::shared_ptr<const MeasuredOps> {
                                     return std::make_shared<MeasuredOps>(input, launchers);
                                   },
                                   beside)
                                   .share();
  struct Found {
    std::unique_ptr<const SteadyInput> steady;  // null: the whole recording is assessed
    std::unique_ptr<const Assessment> assessment;
    std::unique_ptr<const CriticalPath> path;
    std::vector<Finding> findings;
  };
  std::future<Found> found = start_beside(
      [&] {
        auto steady = SteadyInput::of(input);
        const SheetInput& assessed = steady ? steady->input : input;
        auto assessment = std::make_unique<const Assessment>(
            assessed, steady ? steady->ops : *ops.get(), platform);
        auto path = std::make_unique<const CriticalPath>(assessed, assessment->base());
        std::vector<Finding> findings = find_all(*assessment, path.get());
        return Found{std::move(steady), std::move(assessment), std::move(path),
                     std::move(findings)};
      },
      beside);
  std::vector<Table> sheets = all_sheets(input, launchers, ops, options.threads, &contexts);
  const Found done = found.get();
  const Assessment& assessment = *done.assessment;
  for (Table& sheet : idle_sheets(assessment)) sheets.push_back(std::move(sheet));
  const CriticalPath& critical = *done.path;
  if (critical.missing().empty()) sheets.push_back(critical_path_sheet(input, critical));
  std::optional<CodeCoverage> coverage;
  if (code != nullptr) coverage = code_coverage(trace.store, all_selected(input), input.kernels);
  Analysis analysis;
  analysis.sheets = std::move(sheets);
  analysis.sheets.reserve(analysis.sheets.size() + 1);  // the page is made of them beside this
  const std::span<const Table> own_sheets = analysis.sheets;
  std::future<AnalysisPageParts> page_parts = start_beside(
      [&] {
        return options.page
                   ? analysis_page_parts(assessment, done.findings, critical, own_sheets, contexts)
                   : AnalysisPageParts{};
      },
      beside && options.page);
  analysis.summary = summarize(trace, assessment, done.findings, coverage ? &*coverage : nullptr);
  analysis.packages = package_slow_ops(trace, input, assessment);
  analysis.summary.path = summarize_path(input, critical);
  analysis.summary.what_if = TRY(answer_questions(assessment.input(), critical, options.what_if));
  std::vector<ReportFile> counter_files;
  if (has_counters)
    counter_files = report_counters(
        trace, input, contexts, recorded_on != nullptr ? recorded_on : platform, options, analysis);
  if (options.samples != nullptr)
    analysis.summary.stalls = summarize_stalls(input, *options.samples);
  analysis.summary.clocks = summarize_clocks(input);
  std::vector<std::string> package_paths;
  for (const PackageInReport& package : analysis.packages) package_paths.push_back(package.path);
  const RunStory story =
      TRY(tell_story(trace, assessment, done.findings,
                     has_counters ? contexts
                                  : launch_contexts(assessment.input(),
                                                    recorded_on != nullptr ? recorded_on : platform,
                                                    kMostContexts, true, kAskedContexts),
                     options));
  analysis.summary.phases = story_phases_text(story, screen_safe);
  const AnalysisView view{analysis.summary, assessment, done.findings, package_paths, story};
  analysis.files = analysis_files(view);
  for (ReportFile& file : counter_files) analysis.files.push_back(std::move(file));
  if (coverage)
    analysis.files.push_back({"kernel_sources.md", kernel_sources_markdown(*code, *coverage)});
  if (options.page) {
    analysis.files.push_back(
        {"report.html",
         analysis_page(view, page_parts.get(),
                       std::span<const Table>(analysis.sheets).subspan(own_sheets.size()))});
  }
  return analysis;
}

Result<WrittenReport> write_report(const Analysis& analysis, const OutputPlace& place) {
  OutputDirectory out = TRY(OutputDirectory::create(place));
  WrittenReport written{{shown_directory(place.path).string(), {}}, {}};
  std::vector<std::string>& files = written.listing.files;
  // The workbook takes as long as all the rest.
  std::future<Status> workbook = start_beside([&] {
    return write_xlsx(analysis.summary, analysis.sheets, out.staged("perf_report.xlsx"));
  });
  for (const Table& sheet : analysis.sheets) {
    const std::string name = fmt::format("perf_report_csvs/{}.csv", sheet.name());
    TRY(out.write_file(name, to_csv(sheet)));
    files.push_back(name);
  }
  files.emplace_back("perf_report.xlsx");
  for (const ReportFile& file : analysis.files) {
    TRY(out.write_file(file.path, file.content));
    files.push_back(file.path);
  }
  for (const PackageInReport& package : analysis.packages) {
    const std::string bytes = TRY(zip_package(package.package, analysis.summary.trace));
    TRY(out.write_file(package.path, bytes));
    files.push_back(package.path);
  }
  TRY(workbook.get());
  files.emplace_back("summary.json");
  TRY(out.write_file("summary.json", summary_json(analysis.summary, written.listing)));
  written.notes = TRY(out.commit());
  return written;
}

namespace {

// <(zcat trace.json.gz) in a shell: /dev/fd/63, beside which nothing can be written.
bool is_descriptor(std::string_view path) {
  return path.starts_with("/dev/fd/") || path == "/dev/stdin" ||
         (path.starts_with("/proc/") && path.find("/fd/") != std::string_view::npos);
}

}  // namespace

fs::path default_report_directory(const std::string& trace_path) {
  if (trace_path == "-") return "stdin.fathom";
  if (is_descriptor(trace_path)) return "pipe.fathom";
  fs::path path(trace_path);
  for (const char* ending : {".gz", ".zst", ".json", ".sqlite", ".sqlite3", ".db", ".csv",
                             ".pftrace", ".ncu-rep", ".ncu-repz", ".capture"}) {
    if (path.extension() == ending) path.replace_extension();
  }
  return path += ".fathom";
}

fs::path cache_beside(const fs::path& report_directory) {
  fs::path shown = shown_directory(report_directory);
  std::error_code error;
  if (shown.filename() == "." || shown.filename() == "..") shown = fs::canonical(shown, error);
  return shown += ".cache";
}

}  // namespace fathom
