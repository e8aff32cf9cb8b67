#include "session/analyze.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <map>
#include <set>

#include "analyze/finding_parts.h"
#include "base/threads.h"
#include "replay/python_text.h"
#include "report/csv.h"
#include "report/trace/kernel_sources_markdown.h"
#include "report/trace/xlsx.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// "8 × AMD Instinct MI300X"; different GPUs are listed.
std::string gpu_names(const std::vector<GpuProperties>& gpus) {
  std::vector<std::pair<std::string, int>> counts;
  for (const GpuProperties& gpu : gpus) {
    if (gpu.name.empty()) continue;
    if (counts.empty() || counts.back().first != gpu.name) counts.emplace_back(gpu.name, 0);
    ++counts.back().second;
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    if (!text.empty()) text += ", ";
    text += count > 1 ? fmt::format("{} × {}", count, name) : name;
  }
  return text;
}

std::string runtime_name(const TraceMetadata& metadata) {
  // 13000 is CUDA 13.0; 60443483 is HIP 6.4.43483.
  if (auto v = metadata.cuda_runtime_version)
    return fmt::format("CUDA {}.{}", *v / 1000, *v % 1000 / 10);
  if (auto v = metadata.hip_runtime_version)
    return fmt::format("HIP {}.{}", *v / 10000000, *v / 100000 % 100);
  return {};
}

Summary::Unlinked measure_unlinked(const SheetInput& input) {
  Summary::Unlinked unlinked;
  Nanos all;
  for (EventId e : input.selection.linked()) all += input.store.duration(e);
  for (EventId e : input.selection.unlinked()) unlinked.time += input.store.duration(e);
  all += unlinked.time;
  unlinked.events = static_cast<int64_t>(input.selection.unlinked().size());
  unlinked.of_gpu = ratio(unlinked.time, all);
  unlinked.included = input.scope.include_unlinked;
  return unlinked;
}

// The ops of the reports, by the names that `fathom replay pack` takes.
std::vector<Summary::Op> summarize_ops(const Assessment& assessment) {
  std::vector<Summary::Op> ops;
  for (const TopOp& op : assessment.ops_by_name()) {
    ops.push_back({std::string(op.name), std::string(op.category), static_cast<int64_t>(op.calls),
                   op.time.millis(), op.share * 100});
  }
  return ops;
}

std::optional<Summary::Cpu> summarize_cpu(const Assessment& assessment) {
  const CpuOps* ops = assessment.cpu();
  if (ops == nullptr) return {};
  Summary::Cpu cpu{ops->length(), ops->self(), {}};
  for (const CpuOp& op : ops->by_name()) {
    cpu.ops.push_back({std::string(assessment.input().store.text(op.name)),
                       shapes_text(assessment.input(), op.first), static_cast<int64_t>(op.calls),
                       op.self.millis(), ratio(op.self, ops->self()) * 100});
  }
  return cpu;
}

std::string describe_scope(const Scope& scope, const std::vector<std::string>& steps) {
  std::vector<std::string> parts;
  if (scope.steps && scope.steps->begin < steps.size()) {
    const size_t last = std::min(scope.steps->end, steps.size()) - 1;
    const std::string names = scope.steps->begin == last
                                  ? fmt::format("step {} ({})", last, steps[last])
                                  : fmt::format("steps {} to {} ({} … {})", scope.steps->begin,
                                                last, steps[scope.steps->begin], steps[last]);
    parts.push_back(fmt::format("{} of 0 to {}", names, steps.size() - 1));
  }
  if (scope.device) parts.push_back(fmt::format("GPU {}", *scope.device));
  return fmt::format("{}", fmt::join(parts, "; "));
}

Summary summarize_trace(const Trace& trace, const SheetInput& input) {
  const EventStore& store = trace.store;
  Summary s;
  s.trace = trace.path == "-" ? "standard input" : fs::path(trace.path).filename().string();
  s.gpu = gpu_names(store.metadata().gpus);
  s.runtime = runtime_name(store.metadata());
  s.rank = store.metadata().rank;
  s.world_size = store.metadata().world_size;
  s.events = store.entries();
  s.gpu_events =
      static_cast<int64_t>(input.selection.linked().size() + input.selection.unlinked().size());
  s.input_bytes = store.input_bytes();
  const Steps steps(store, input.scope.step_pattern);
  for (const Step& step : steps.all()) s.steps.emplace_back(store.name(step.annotation));
  s.scope = describe_scope(input.scope, s.steps);
  s.timeline = measure_timeline(input);
  s.unlinked = measure_unlinked(input);
  Diagnostics diagnostics = store.diagnostics();
  diagnostics.merge(trace.tree.diagnostics());
  s.skipped_events = diagnostics.skipped_events();
  s.diagnostics = diagnostics.all();
  return s;
}

std::string gpus_with_work(const EventStore& store) {
  std::set<int32_t> devices;
  for (size_t i = 0; i < store.size(); ++i) {
    if (!is_gpu_work(store.kind(EventId(i)))) continue;
    if (const auto device = store.gpu_work(EventId(i)).device) devices.insert(*device);
  }
  return devices.empty() ? "none" : fmt::format("{}", fmt::join(devices, ", "));
}

// A scope that holds nothing is a mistake in the asking.
Status check_scope(const SheetInput& input, const std::string& path) {
  const Scope& scope = input.scope;
  if (scope.device && !scope.steps && all_selected(input).empty()) {
    return Error{fmt::format("{} has no work on GPU {}; it has work on GPU {}", path, *scope.device,
                             gpus_with_work(input.store))};
  }
  return Nothing{};
}

}  // namespace

Result<Summary> summarize(const Trace& trace, const SheetInput& input) {
  TRY(check_scope(input, trace.path));
  return summarize_trace(trace, input);
}

const Platform* detect_platform(const Trace& trace) {
  const std::vector<GpuProperties>& gpus = trace.store.metadata().gpus;
  if (gpus.empty()) return nullptr;
  const GpuProperties& gpu = gpus.front();
  return Platforms::built_in().detect({gpu.name, gpu.memory_bytes, gpu.multiprocessors});
}

namespace {

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
  for (const ReplayOp& op : find_replay_ops(input).ops) {
    if (std::ranges::find(wanted, op.name) == wanted.end() || op.cases.empty()) continue;
    packages.push_back({fmt::format("replay_packages/{}_replay_package.zip", file_name_of(op.name)),
                        make_replay_package(op, source, kCases)});
  }
  return packages;
}

void summarize_findings(const Trace& trace, const Assessment& assessment,
                        const std::vector<Finding>& findings, Summary& summary) {
  if (assessment.platform() != nullptr) {
    summary.platform = assessment.platform()->name;
    const Platform* own = detect_platform(trace);
    if (own != nullptr && own->name != summary.platform) {
      summary.recorded_on = own->name;
    }
    summary.has_costs = std::ranges::any_of(
        assessment.ops(), [](const AssessedOp& op) { return op.group->cost.has_value(); });
    summary.known_share = assessment.known_share();
  }
  for (const Finding& f : findings) {
    summary.findings.push_back({std::string(kind_name(f.kind)), f.priority, f.title, f.subject,
                                ratio(f.saving_at_least, assessment.length()) * 100,
                                ratio(f.saving_at_most, assessment.length()) * 100});
  }
}

// A recording of nothing is a mistake that a report would only hide.
Status check_has_events(const Trace& trace) {
  const EventStore& store = trace.store;
  if (store.size() > 0) return Nothing{};
  if (store.diagnostics().count(Flaw::kTruncated) > 0) {
    return Error{
        fmt::format("{} has no events that can be read: the file ends in the middle", trace.path)};
  }
  const std::string found =
      store.entries() == 0
          ? "its traceEvents list is empty"
          : fmt::format("none of its {} traceEvents is a timed event that can be read",
                        with_thousands(store.entries()));
  return Error{fmt::format("{} has no events: {}; was the profiler stopped before any step ran?",
                           trace.path, found)};
}

// Puts file and line on the kernels of the trace, in the sheet and in the findings. Gives back the
// report on them.
std::vector<ReportFile> add_sources(const CodeFacts& code, Analysis& analysis,
                                    std::vector<Finding>& findings) {
  std::vector<ReportFile> files;
  for (Table& sheet : analysis.sheets) {
    if (sheet.name() != "kernel_summary") continue;
    const KernelSources sources = locate_kernels(sheet, code);
    add_source_columns(sheet, sources);
    const double total = sources.total_micros > 0 ? sources.total_micros : 1;
    analysis.summary.sources = {code.repository, 100 * sources.matched_micros / total,
                                100 * sources.ambiguous_micros / total};
    files.push_back({"kernel_sources.md", kernel_sources_markdown(sources)});
    std::map<std::string_view, std::string> places;
    for (const KernelSource& kernel : sources.kernels) {
      places[kernel.kernel] = source_text(code, kernel.matches);
    }
    for (Finding& finding : findings) {
      for (EvidenceOp& op : finding.evidence) {
        for (const std::string& kernel : op.kernels) op.sources.push_back(places[kernel]);
      }
    }
  }
  return files;
}

}  // namespace

Result<Analysis> analyze(const Trace& trace, const Scope& scope, const AnalyzeOptions& options) {
  TRY(check_has_events(trace));
  const SheetInput input(trace.store, trace.tree, scope);
  Summary summary = TRY(summarize(trace, input));
  const std::vector<Launcher> launchers = find_launchers(input);
  const Platform* platform =
      options.platform != nullptr ? options.platform : detect_platform(trace);
  // Sheets that need no costs do not wait for them, nor any sheet for the findings.
  const bool beside = options.threads != 1;
  const MeasuredOpsLater ops = start_beside(
                                   [&]() -> std::shared_ptr<const MeasuredOps> {
                                     return std::make_shared<MeasuredOps>(input, launchers);
                                   },
                                   beside)
                                   .share();
  struct Found {
    std::unique_ptr<const Assessment> assessment;
    std::vector<Finding> findings;
  };
  std::future<Found> found = start_beside(
      [&] {
        auto assessment = std::make_unique<const Assessment>(input, *ops.get(), platform);
        std::vector<Finding> findings = find_all(*assessment);
        return Found{std::move(assessment), std::move(findings)};
      },
      beside);
  Analysis analysis{std::move(summary), all_sheets(input, launchers, ops, options.threads), {}, {}};
  Found done = found.get();
  const Assessment& assessment = *done.assessment;
  std::vector<ReportFile> source_files;
  if (options.code != nullptr) source_files = add_sources(*options.code, analysis, done.findings);
  const std::vector<Finding>& findings = done.findings;
  analysis.summary.ops = summarize_ops(assessment);
  analysis.summary.cpu = summarize_cpu(assessment);
  summarize_findings(trace, assessment, findings, analysis.summary);
  analysis.packages = package_slow_ops(trace, input, assessment);
  std::vector<std::string> package_paths;
  for (const PackageInReport& package : analysis.packages) package_paths.push_back(package.path);
  analysis.files = analysis_files({analysis.summary, assessment, findings, package_paths});
  for (ReportFile& file : source_files) analysis.files.push_back(std::move(file));
  return analysis;
}

Result<std::vector<std::string>> write_report(Analysis& analysis, const OutputPlace& place) {
  OutputDirectory out = TRY(OutputDirectory::create(place));
  Summary& summary = analysis.summary;
  summary.report = shown_directory(place.path).string();
  summary.files.clear();
  // The workbook takes as long as all the rest; it reads the summary, which must not change.
  std::future<Status> workbook = start_beside([&, copy = summary] {
    return write_xlsx(copy, analysis.sheets, out.staged("perf_report.xlsx"));
  });
  for (const Table& sheet : analysis.sheets) {
    const std::string name = fmt::format("perf_report_csvs/{}.csv", sheet.name());
    TRY(out.write_file(name, to_csv(sheet)));
    summary.files.push_back(name);
  }
  summary.files.emplace_back("perf_report.xlsx");
  for (const ReportFile& file : analysis.files) {
    TRY(out.write_file(file.path, file.content));
    summary.files.push_back(file.path);
  }
  for (const PackageInReport& package : analysis.packages) {
    const std::string bytes = TRY(zip_package(package.package, summary.trace));
    TRY(out.write_file(package.path, bytes));
    summary.files.push_back(package.path);
  }
  TRY(workbook.get());
  summary.files.emplace_back("summary.json");
  TRY(out.write_file("summary.json", summary_json(summary)));
  return out.commit();
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
  for (const char* ending : {".gz", ".zst", ".json"}) {
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
