#include "report/trace/counters_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/json_writer.h"
#include "base/kernel_name.h"
#include "base/tsv.h"
#include "report/markdown.h"

namespace fathom {
namespace {

constexpr size_t kScreenRows = 10, kPageRows = 30, kPageKernels = 5, kPageNotes = 5;

// Columns of kernel_counters that fit a page, with a short head.
struct ShownColumn {
  std::string_view column, head;
};
constexpr ShownColumn kPageColumns[] = {
    {"Launches counted", "launches"}, {"Time (µs)", "µs"},
    {"SM throughput (%)", "SM %"},    {"DRAM throughput (%)", "DRAM %"},
    {"L2 hit rate (%)", "L2 hit %"},  {"Achieved occupancy (%)", "occup. %"},
    {"Tensor pipe (%)", "tensor %"},
};

const Column* find_column(const Table& table, std::string_view name) {
  for (const Column& column : table.columns()) {
    if (column.name() == name) return &column;
  }
  return nullptr;
}

std::string cell_text(const Table& table, std::string_view name, size_t row) {
  const Column* column = find_column(table, name);
  if (column == nullptr || !column->known(row)) return "";
  if (column->is_text()) return std::string(column->text(row));
  if (column->unit() == Unit::kCount)
    return with_thousands(static_cast<int64_t>(column->number(row)));
  return fmt::format("{:.1f}", column->number(row));
}

std::string kernel_text(const Table& table, size_t row) {
  return std::string(normal_kernel_name(cell_text(table, "Kernel name", row)).base());
}

std::string source_line(const CounterReport::Source& source) {
  return fmt::format("{} · {} · {} · {}", source.tool,
                     source.gpu.empty() ? "GPU not named" : source.gpu,
                     counted(static_cast<uint64_t>(source.launches), "launch", "launches"),
                     counted(static_cast<uint64_t>(source.metrics), "metric"));
}

std::vector<std::string> note_lines(const CounterReport& report, bool verbose) {
  std::vector<std::string> lines;
  for (const Diagnostic& d : report.diagnostics.all()) {
    const FlawText& flaw = describe(d.flaw);
    if (flaw.severity == Severity::kInfo && !verbose) continue;
    lines.push_back(fmt::format("{}: {}{}", severity_name(flaw.severity), flaw.text,
                                d.count > 1 ? fmt::format(" ({})", with_thousands(d.count)) : ""));
  }
  if (report.left_out > 0) {
    lines.push_back(fmt::format("counters.csv is full: {} left out",
                                counted(static_cast<uint64_t>(report.left_out), "value")));
  }
  return lines;
}

const TestedHypothesis* confirmed_limit(const KernelContext& kernel) {
  for (const TestedHypothesis& tested : kernel.tested)
    if (tested.verdict == Verdict::kConfirmed && tested.explained_by.empty()) return &tested;
  return nullptr;
}

// The command that counts what is missing of the longest kernel; empty: nothing is.
std::string missing_counters(const std::vector<KernelContext>& kernels) {
  for (const KernelContext& kernel : kernels)
    for (const TestedHypothesis& tested : kernel.tested)
      if (tested.verdict == Verdict::kUntested && !tested.command.empty()) return tested.command;
  return {};
}

// Without a duration or a range no saving is known, and a limit is one all the same.
std::vector<std::string> limits_without_saving(const std::vector<KernelContext>& kernels) {
  constexpr size_t kMost = 3;
  std::vector<std::string> lines;
  for (const KernelContext& kernel : kernels) {
    if (lines.size() == kMost) break;
    if (const TestedHypothesis* limit = confirmed_limit(kernel))
      lines.push_back(
          fmt::format("{}: {} ({}); {}", screen_safe(normal_kernel_name(kernel.name).base()),
                      limit->hypothesis->title, screen_safe(evidence_text(kernel, *limit)),
                      kernel.is_timed() ? "saving unknown" : "time unknown"));
  }
  return lines;
}

// What limits each of the longest kernels, by its counters.
void add_limits(std::string& out, const std::vector<KernelContext>& kernels) {
  constexpr size_t kShown = 10;
  if (kernels.empty()) return;
  out += "\n## What limits them\n\n";
  out += md_row({"kernel", "µs in all", "limit", "evidence (measured)", "change", "expected"});
  out += "|---|---:|---|---|---|---:|\n";
  for (size_t i = 0; i < std::min(kShown, kernels.size()); ++i) {
    const KernelContext& kernel = kernels[i];
    std::vector<std::string> cells = {
        md_code_cell(normal_kernel_name(kernel.name).base()),
        kernel.time.count == 0
            ? std::string()  // not counted
            : fmt::format("{:.1f}", static_cast<double>(kernel.time.count) / 1e3)};
    if (const TestedHypothesis* limit = confirmed_limit(kernel)) {
      cells.emplace_back(limit->hypothesis->title);
      cells.push_back(evidence_text(kernel, *limit));
      cells.emplace_back(limit->hypothesis->advice);
      cells.push_back(gain_text(*limit));
    } else {
      const auto untested =
          std::ranges::count(kernel.tested, Verdict::kUntested, &TestedHypothesis::verdict);
      cells.emplace_back("none confirmed");
      cells.push_back(untested == 0 ? std::string()
                                    : fmt::format("{} untested: counters are missing",
                                                  counted(static_cast<uint64_t>(untested),
                                                          "hypothesis", "hypotheses")));
      cells.resize(6);
    }
    out += md_row(cells);
  }
  out += fmt::format(
      "\nAll hypotheses with their evidence: perf_report_csvs/hypotheses.csv, and a page for each "
      "of "
      "the {} longest kernels in kernels/.\n",
      std::min(kernels.size(), kMostKernelPages));
}

// What ncu's rules say of the kernels, those with an optimization first.
void add_rule_notes(std::string& out, const std::vector<CounterFile>& files) {
  size_t kernels = 0;
  for (const CounterFile& file : files) {
    for (CounterRowId id(0); id.index < file.set.size() && kernels < kPageKernels; ++id.index) {
      const CounterRow& row = file.set.row(id);
      std::vector<std::string_view> notes = split(file.set.text(row.notes), '\n');
      std::erase_if(notes, [](std::string_view note) { return !note.starts_with("OPT "); });
      if (notes.empty()) continue;
      if (kernels++ == 0) out += "\n## Optimizations that the tool suggests\n";
      out += fmt::format("\n{} (launch {} of {}):\n\n", md_code(file.set.text(row.kernel)),
                         row.launch.value_or(id.index), md_text(file.name));
      for (size_t i = 0; i < std::min(notes.size(), kPageNotes); ++i)
        out += fmt::format("- {}\n", md_prose(notes[i].substr(4)));
      if (notes.size() > kPageNotes) out += fmt::format("- {} more\n", notes.size() - kPageNotes);
    }
  }
}

}  // namespace

std::string tool_text(const CounterOrigin& origin) {
  std::string text = origin.tool;
  if (!origin.version.empty()) text += " " + origin.version;
  return text + ", " + origin.form;
}

std::string counters_text(const CounterReport& report, const TerminalStyle& style,
                          const ReportListing& written) {
  Screen screen(style);
  for (const CounterReport::Source& source : report.sources) {
    screen.line(fmt::format("{}   {}", screen.bold(screen_safe(source.file)),
                            screen_safe(source_line(source))));
  }
  constexpr size_t kWidth = 9;
  const size_t numbers = std::size(kPageColumns) * (kWidth + 1);
  const size_t name_width =
      std::clamp<size_t>(style.width - std::min(style.width, numbers), 24, 60);
  std::string head = fit_left("Top kernels", name_width);
  for (const ShownColumn& shown : kPageColumns) head += fmt::format(" {:>9}", shown.head);
  screen.line(screen.bold(head));
  const size_t rows = std::min(report.kernels.rows(), kScreenRows);
  for (size_t row = 0; row < rows; ++row) {
    std::string line = fit_left("  " + screen_safe(kernel_text(report.kernels, row)), name_width);
    for (const ShownColumn& shown : kPageColumns) {
      const std::string cell = cell_text(report.kernels, shown.column, row);
      line += fmt::format(" {:>9}", cell.empty() ? "–" : cell);
    }
    screen.line(line);
  }
  if (report.kernels.rows() > rows)
    screen.line(screen.dim(fmt::format("  {} more", report.kernels.rows() - rows)));
  bool first = true;
  for (const Summary::Counters::Bottleneck& found : report.bottlenecks) {
    screen.entry(first ? "Bound" : "",
                 fmt::format("{}: {} ({})", screen_safe(normal_kernel_name(found.kernel).base()),
                             found.title, screen_safe(found.evidence)));
    screen.entry("", screen.dim(found.fix));
    first = false;
  }
  if (first) {
    for (const std::string& line : limits_without_saving(report.contexts)) {
      screen.entry(first ? "Bound" : "", line);
      first = false;
    }
  }
  const std::string command = first ? missing_counters(report.contexts) : std::string();
  if (!command.empty())
    screen.entry("Bound", "no hypothesis confirmed; more counters would test more: " + command);
  first = true;
  for (const std::string& note : note_lines(report, style.verbose)) {
    screen.entry(first ? "Notes" : "", screen.warn(note));
    first = false;
  }
  if (!written.directory.empty()) {
    screen.entry("Report",
                 report_words(written.directory, written.has_page(), "counters.md, kernels/ …"));
  }
  return screen.take();
}

std::string counters_markdown(const CounterReport& report, const std::vector<CounterFile>& files) {
  std::string out = "# Hardware counters\n\n";
  for (const CounterReport::Source& source : report.sources)
    out += fmt::format("- {}: {}\n", md_text(source.file), md_prose(source_line(source)));
  for (const std::string& note : note_lines(report, true))
    out += fmt::format("- {}\n", md_prose(note));
  out +=
      "\nNo trace was given: what launched these kernels, and their share of a step, is not known. "
      "Give the trace\nbeside the counters: `fathom analyze TRACE COUNTERS`.\n\n## Kernels by "
      "counted time\n\n";
  std::vector<std::string> head = {"kernel", "grid", "block"};
  std::string rule = "|---|---|---|";
  for (const ShownColumn& shown : kPageColumns) {
    head.emplace_back(shown.head);
    rule += "---:|";
  }
  head.emplace_back("top stall reasons");
  out += md_row(head);
  out += rule + "---|\n";
  const size_t rows = std::min(report.kernels.rows(), kPageRows);
  for (size_t row = 0; row < rows; ++row) {
    std::vector<std::string> cells = {md_code_cell(kernel_text(report.kernels, row)),
                                      cell_text(report.kernels, "Grid", row),
                                      cell_text(report.kernels, "Block", row)};
    for (const ShownColumn& shown : kPageColumns)
      cells.push_back(cell_text(report.kernels, shown.column, row));
    cells.push_back(md_cell(cell_text(report.kernels, "Top stall reasons", row)));
    out += md_row(cells);
  }
  if (report.kernels.rows() > rows)
    out += fmt::format("\n{} more in kernel_counters.csv.\n", report.kernels.rows() - rows);
  add_limits(out, report.contexts);
  add_rule_notes(out, files);
  return out;
}

std::string counters_json(const CounterReport& report, const ReportListing& written) {
  JsonWriter json(true);
  const auto text_or_null = [&json](std::string_view key, std::string_view text) {
    json.key(key);
    text.empty() ? json.null() : json.value(text);
  };
  json.begin_object().key("schema_version").value(int64_t{1});
  json.key("counters").begin_array();
  for (const CounterReport::Source& source : report.sources) {
    json.begin_object().key("file").value(source.file).key("tool").value(source.tool);
    text_or_null("gpu", source.gpu);
    json.key("launches").value(source.launches).key("metrics").value(source.metrics).end_object();
  }
  json.end_array().key("kernels").begin_array();
  for (size_t row = 0; row < report.kernels.rows(); ++row) {
    json.begin_object();
    for (const Column& column : report.kernels.columns()) {
      json.key(column.name());
      if (!column.known(row)) {
        json.null();
      } else if (column.is_text()) {
        json.value(column.text(row));
      } else {
        json.raw(column.cell(row));
      }
    }
    json.end_object();
  }
  json.end_array().key("bottlenecks").begin_array();
  write_bottlenecks(json, report.bottlenecks);
  json.end_array().key("diagnostics").begin_array();
  for (const Diagnostic& d : report.diagnostics.all()) {
    const FlawText& flaw = describe(d.flaw);
    json.begin_object().key("id").value(flaw.id).key("count").value(d.count);
    json.key("text").value(flaw.text).end_object();
  }
  json.end_array();
  text_or_null("report", written.directory);
  json.key("files").begin_array();
  for (const std::string& file : written.files) json.value(file);
  json.end_array().end_object();
  return json.take() + "\n";
}

}  // namespace fathom
