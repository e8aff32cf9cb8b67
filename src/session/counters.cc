#include "session/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/read_all.h"
#include "events/timeline_rows.h"
#include "ingest/capture/chunk_reader.h"
#include "ingest/capture/counters.h"
#include "ingest/capture/sampled_counters.h"
#include "ingest/ncu/reader.h"
#include "ingest/rocprof/counter_csv.h"
#include "measure/counter_columns.h"
#include "report/csv.h"
#include "report/page/documents_page.h"
#include "report/trace/kernel_pages.h"
#include "session/counted_run.h"
#include "sheets/counter_sheets.h"
#include "sheets/kernel_contexts.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// A file begins with the program's own output, or with a header of hundreds of counters.
constexpr size_t kHeadBytes = 256 << 10;

struct CounterFormat {
  bool (*recognises)(std::string_view head);
  Result<CounterSet> (*read)(ByteSource& source, const std::string& shown);
};
constexpr CounterFormat kCounterFormats[] = {
    {ncu::recognises, ncu::read},
    {rocprof::counters::recognises, rocprof::counters::read},
};

std::optional<std::string> read_small(const fs::path& path) {
  constexpr size_t kLargest = 1 << 20;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  Result<std::unique_ptr<ByteSource>> source = open_source(path.string());
  if (!source.ok()) return {};
  Result<WholeText> whole = read_all(*source.take(), kLargest);
  if (!whole.ok()) return {};
  return whole.take().text;
}

// rocprof-compute writes what the machine is beside the counters: sysinfo.csv, or NAME_sysinfo.csv
// beside NAME_pmc_perf.csv.
void add_system_facts(const fs::path& path, CounterSet& set) {
  if (set.origin().tool != "rocprof-compute" || !set.origin().gpu.empty()) return;
  std::string name = path.filename().string();
  constexpr std::string_view kTable = "pmc_perf";
  const size_t at = name.find(kTable);
  const std::string prefix = at == std::string::npos ? "" : name.substr(0, at);
  for (const std::string& beside : {prefix + "sysinfo.csv", std::string("sysinfo.csv")}) {
    const std::optional<std::string> text = read_small(path.parent_path() / beside);
    if (!text) continue;
    if (const auto facts = rocprof::counters::read_sysinfo(*text)) {
      set.name_machine(facts->gpu, facts->architecture, "ROCm " + facts->version);
      return;
    }
  }
}

}  // namespace

Result<std::optional<CounterFile>> open_counters(const std::string& path) {
  std::error_code error;
  // A pipe can be read only once, which is the trace reader's.
  if (path == "-" || !fs::is_regular_file(path, error)) return std::optional<CounterFile>();
  Result<std::unique_ptr<ByteSource>> first = open_source(path);
  if (!first.ok()) return std::optional<CounterFile>();
  std::string head(kHeadBytes, '\0');
  Result<size_t> got = first.take()->read(head);
  if (!got.ok()) return std::optional<CounterFile>();
  head.resize(got.value());
  for (const CounterFormat& format : kCounterFormats) {
    if (!format.recognises(head)) continue;
    const std::unique_ptr<ByteSource> source = TRY(open_source(path));
    CounterSet set = TRY(format.read(*source, path));
    add_system_facts(path, set);
    note_impossible_values(set);
    return std::optional(CounterFile{fs::path(path).filename().string(), std::move(set)});
  }
  return std::optional<CounterFile>();
}

Result<std::vector<CounterFile>> open_capture_counters(const Trace& trace) {
  std::vector<CounterFile> files;
  if (!is_readable_capture(trace)) return files;
  const std::string name =
      trace.path == "-" ? "standard input" : fs::path(trace.path).filename().string();
  const std::unique_ptr<ByteSource> source = TRY(open_again(trace));
  if (std::optional<CounterSet> set = TRY(capture::read_counters(*source, name))) {
    note_impossible_values(*set);
    files.push_back({name, std::move(*set)});
  }
  const std::unique_ptr<ByteSource> again = TRY(open_again(trace));
  if (std::optional<CounterSet> set = TRY(capture::read_sampled_counters(*again, name))) {
    note_impossible_values(*set);
    files.push_back({name + ", sampled", std::move(*set)});
  }
  return files;
}

GpuWork counted_work(const CounterRow& row) {
  GpuWork work;
  work.device = small_number(row.device);
  work.stream = row.stream;
  work.grid = row.grid;
  work.block = row.block;
  work.cluster = row.cluster;
  work.registers = small_number(row.registers);
  // Each by itself, so that the sum of absurd ones is defined.
  const auto fixed = small_number(row.static_shared.value_or(0));
  const auto dynamic = small_number(row.dynamic_shared.value_or(0));
  if ((row.static_shared || row.dynamic_shared) && fixed && dynamic)
    work.shared_memory = small_number(int64_t{*fixed} + *dynamic);
  return work;
}

Summary::Counters summarize_counters(const SheetInput& input) {
  const CounterJoin& join = *input.kernels.counters();
  Summary::Counters summary;
  for (const CounterJoin::File& file : join.files()) {
    const CounterOrigin& origin = file.file->set.origin();
    summary.files.push_back({file.file->name, tool_text(origin), origin.gpu,
                             static_cast<int64_t>(file.file->set.size()),
                             static_cast<int64_t>(file.joined_rows), file.refusal, file.doubt});
  }
  const CounterCoverage coverage = counter_coverage(input.store, all_selected(input), join);
  summary.joined_percent = 100 * ratio(coverage.joined, coverage.total);
  summary.untrusted_percent = 100 * ratio(coverage.untrusted, coverage.total);
  summary.ambiguous_percent = 100 * ratio(coverage.ambiguous, coverage.total);
  return summary;
}

std::vector<Summary::Counters::Bottleneck> summarize_bottlenecks(
    const std::vector<KernelContext>& kernels) {
  constexpr size_t kShown = 3;
  constexpr double kWorthShowing = 0.01;  // of the kernels' time
  Nanos total;
  for (const KernelContext& kernel : kernels) total += kernel.time;
  std::vector<Summary::Counters::Bottleneck> out;
  std::vector<const KernelContext*> seen;
  for (const ConfirmedLimit& found : find_bottlenecks(kernels)) {
    if (out.size() == kShown) break;
    if (found.saving <= Nanos{} || ratio(found.saving, total) < kWorthShowing) continue;
    if (std::ranges::find(seen, found.kernel) != seen.end()) continue;
    seen.push_back(found.kernel);
    const Hypothesis& hypothesis = *found.tested->hypothesis;
    out.push_back({found.kernel->name, std::string(hypothesis.id), std::string(hypothesis.title),
                   evidence_text(*found.kernel, hypothesis), std::string(hypothesis.fix),
                   found.kernel->time, found.saving, found.tested->least_gain(),
                   found.tested->most_gain()});
  }
  return out;
}

ReportFile counter_values_file(const std::vector<CounterFile>& files, int64_t& left_out) {
  size_t cut = 0;
  const Table table = counters_sheet(files, kMaxCounterLines, cut);
  left_out = static_cast<int64_t>(cut);
  return {"perf_report_csvs/counters.csv", to_csv(table)};
}

CounterReport analyze_counters(const std::vector<CounterFile>& files, const Platform* platform) {
  CounterReport report{kernel_counters_sheet(files), {}, {}, 0};
  size_t values = 0;
  for (const CounterFile& file : files) {
    const CounterSet& set = file.set;
    CounterReport::Source source{file.name, tool_text(set.origin()), set.origin().gpu,
                                 static_cast<int64_t>(set.size()),
                                 static_cast<int64_t>(set.metric_count())};
    report.sources.push_back(std::move(source));
    report.diagnostics.merge(set.diagnostics());
    values += set.value_count();
  }
  report.left_out = static_cast<int64_t>(values - std::min(values, kMaxCounterLines));
  const Trace run = run_of_counters(files);
  KernelMeasures measures;
  add_own_counters(run, files, measures);
  Scope scope;
  scope.include_unlinked = true;
  const SheetInput input(run.store, run.tree, scope, std::move(measures));
  report.contexts = kernel_contexts(input, platform != nullptr ? platform : detect_platform(run),
                                    kMostContexts, false);
  report.bottlenecks = summarize_bottlenecks(report.contexts);
  return report;
}

Result<WrittenReport> write_counter_report(const CounterReport& report,
                                           const std::vector<CounterFile>& files, bool page,
                                           const OutputPlace& place) {
  OutputDirectory out = TRY(OutputDirectory::create(place));
  WrittenReport written{{shown_directory(place.path).string(), {}}, {}};
  const auto write = [&](const std::string& name, std::string_view content) -> Status {
    written.listing.files.push_back(name);
    return out.write_file(name, content);
  };
  DocumentsPage shown{"analyze", report.sources.front().file, "", {}, {}, {report.kernels}, {}};
  TRY(write("perf_report_csvs/kernel_counters.csv", to_csv(report.kernels)));
  int64_t left_out = 0;  // the report has it
  const ReportFile values = counter_values_file(files, left_out);
  TRY(write(values.path, values.content));
  for (Table table :
       {kernels_sheet(report.contexts), hypotheses_sheet(report.contexts, kMostKernelPages)}) {
    TRY(write(fmt::format("perf_report_csvs/{}.csv", table.name()), to_csv(table)));
    shown.tables.push_back(std::move(table));
  }
  shown.documents.push_back({"counters.md", counters_markdown(report, files)});
  for (ReportFile& file : kernel_pages(report.contexts)) {
    const bool is_picture = file.path.ends_with(".svg");
    (is_picture ? shown.pictures : shown.documents)
        .push_back({std::move(file.path), std::move(file.content)});
  }
  for (const std::vector<DocumentsPage::File>* list : {&shown.documents, &shown.pictures})
    for (const DocumentsPage::File& file : *list) TRY(write(file.path, file.text));
  if (page) TRY(write("report.html", documents_page(shown)));
  written.listing.files.emplace_back("summary.json");
  TRY(out.write_file("summary.json", counters_json(report, written.listing)));
  written.notes = TRY(out.commit());
  return written;
}

}  // namespace fathom
