#include "report/trace/xlsx_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/screen_text.h"
#include "report/trace/wall_time.h"

namespace fathom {
namespace {

constexpr size_t kTopSheetOps = 10;
constexpr size_t kMinNameWidth = 30, kMaxNameWidth = 60;

SummaryCell count(int64_t value, CellStyle style = CellStyle::kCount) {
  return {std::to_string(value), style, true};
}

SummaryCell real(double value, CellStyle style) { return {fmt::format("{}", value), style, true}; }

SummaryCell time_in_millis(Nanos time) {
  return {exact_decimal(time.count, 6), CellStyle::kTime, true};
}

SummaryCell header(std::string name) { return {std::move(name), CellStyle::kHeader}; }

SummaryCell number_header(std::string name) { return {std::move(name), CellStyle::kNumberHeader}; }

void add_section(SummaryRows& rows, std::string title, std::vector<SummaryCell> headers) {
  rows.emplace_back();
  rows.push_back({{std::move(title), CellStyle::kSection}});
  if (!headers.empty()) rows.push_back(std::move(headers));
}

std::string step_names(const std::vector<std::string>& steps) {
  if (steps.empty()) return {};
  if (steps.size() == 1) return steps.front();
  return steps.front() + " … " + steps.back();
}

void add_facts(SummaryRows& rows, const Summary& s) {
  const auto text = [](const std::string& known) {
    return SummaryCell{known.empty() ? "not recorded" : known};
  };
  rows.push_back({{"trace"}, {s.trace}});
  rows.push_back({{"GPU"}, text(s.gpu)});
  rows.push_back({{"runtime"}, text(s.runtime)});
  rows.push_back({{"recorded by"}, text(s.source)});
  if (s.rank) {
    rows.push_back({{"rank"},
                    {s.world_size ? fmt::format("{} of {}", *s.rank, *s.world_size)
                                  : std::to_string(*s.rank)}});
  }
  rows.push_back({{"trace size, unpacked (MB)"},
                  real(static_cast<double>(s.input_bytes) / 1e6, CellStyle::kFactAmount)});
  rows.push_back({{"events"}, count(s.events, CellStyle::kFactCount)});
  rows.push_back({{"events skipped"}, count(s.skipped_events, CellStyle::kFactCount)});
  rows.push_back({{"GPU events"}, count(s.gpu_events, CellStyle::kFactCount)});
  rows.push_back(
      {{"GPU events without a launch"}, count(s.unlinked.events, CellStyle::kFactCount)});
  if (s.unlinked.events > 0) {
    rows.back().push_back(
        {fmt::format("{:.2f} % of GPU time, {}", s.unlinked.of_gpu * 100,
                     s.unlinked.included ? "counted in the timeline" : "not in the timeline")});
  }
  rows.push_back({{"steps"},
                  count(static_cast<int64_t>(s.steps.size()), CellStyle::kFactCount),
                  {step_names(s.steps)}});
  if (s.base.wall().count <= 0) return;
  rows.push_back({{"wall time (ms)"},
                  real(s.base.wall().millis(), CellStyle::kFactAmount),
                  {time_base_text(s)}});
  rows.push_back({{"GPU span (ms)"}, real(s.timeline.total.millis(), CellStyle::kFactAmount)});
}

// Host time included, as on the screen; of several GPUs the mean.
void add_wall_time(SummaryRows& rows, const Summary& s) {
  const Nanos wall = s.base.wall();
  if (wall.count <= 0) return;
  add_section(rows, s.base.used_devices() > 1 ? "Wall time, mean of the GPUs" : "Wall time",
              {header("part"), number_header("time (ms)"), number_header("percent")});
  const DeviceTime device = s.base.mean_device();
  const auto add = [&](std::string name, Nanos time) {
    rows.push_back({{std::move(name)},
                    time_in_millis(time),
                    real(ratio(time, wall) * 100, CellStyle::kPercent)});
  };
  add("computation", device.computation);
  add("exposed communication", device.exposed_communication);
  add("exposed copies", device.exposed_copies);
  add("busy", device.busy);
  add("idle", device.idle);
  add("total", wall);
  if (const std::string causes = idle_causes_text(s); !causes.empty())
    rows.push_back({{"idle, of the wall time"}, {causes}});
}

void add_timeline(SummaryRows& rows, const GpuTimeline& t) {
  add_section(rows, "GPU timeline, from the first to the last GPU work",
              {header("part"), number_header("time (ms)"), number_header("percent")});
  const auto add = [&](std::string name, Nanos time) {
    rows.push_back({{std::move(name)}, time_in_millis(time)});
    if (t.total == Nanos{}) return;
    rows.back().push_back(real(ratio(time, t.total) * 100, CellStyle::kPercent));
  };
  add("computation", t.computation);
  add("exposed communication", t.exposed_communication);
  add("exposed copies", t.exposed_copies);
  add("busy", t.busy);
  add("idle", t.idle);
  add("total", t.total);
  add("communication, exposed or not", t.communication);
  add("copies, exposed or not", t.copies);
}

void add_ops(SummaryRows& rows, const std::vector<Summary::Op>& ops) {
  if (ops.empty()) return;
  add_section(rows, "Top ops",
              {header("op"), header("category"), number_header("calls"),
               number_header("GPU time (ms)"), number_header("percent")});
  const auto add = [&rows](const Summary::Op& op) {
    rows.push_back({{op.name},
                    {op.category},
                    count(op.calls),
                    real(op.gpu_millis, CellStyle::kTime),
                    real(op.share_percent, CellStyle::kPercent)});
  };
  const size_t shown = std::min(ops.size(), kTopSheetOps);
  for (size_t i = 0; i < shown; ++i) add(ops[i]);
  if (shown == ops.size()) return;
  Summary::Op rest{fmt::format("{} more", with_thousands(static_cast<int64_t>(ops.size() - shown))),
                   ""};
  for (size_t i = shown; i < ops.size(); ++i) {
    rest.calls += ops[i].calls;
    rest.gpu_millis += ops[i].gpu_millis;
    rest.share_percent += ops[i].share_percent;
  }
  add(rest);
}

std::string diagnostic_text(const Diagnostic& d) {
  std::string text(describe(d.flaw).text);
  if (d.count > 1) text += fmt::format(" ({})", with_thousands(d.count));
  if (!d.example.empty()) text += "; first: " + d.example;
  return text;
}

// "ops: 2,000,000 rows, more than a sheet holds, on the sheets ops, ops (2)"
std::vector<std::string> split_notes(const std::vector<SheetPart>& parts) {
  std::vector<std::string> notes;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Table* table = parts[i].table;
    if (parts[i].rows() == table->rows() || parts[i].begin > 0) continue;
    std::string names = parts[i].name;
    for (size_t k = i + 1; k < parts.size() && parts[k].table == table; ++k) {
      names += ", " + parts[k].name;
    }
    notes.push_back(fmt::format("{}: {} rows, more than a sheet holds, on the sheets {}",
                                table->name(), with_thousands(static_cast<int64_t>(table->rows())),
                                names));
  }
  return notes;
}

void add_notes(SummaryRows& rows, const Summary& s, const std::vector<SheetPart>& parts,
               const CellLosses& losses) {
  add_section(rows, "Notes", {});
  const size_t before = rows.size();
  for (const Diagnostic& d : s.diagnostics) {
    rows.push_back({{std::string(severity_name(describe(d.flaw).severity))}, {diagnostic_text(d)}});
  }
  for (std::string& note : split_notes(parts)) rows.push_back({{"workbook"}, {std::move(note)}});
  if (losses.cut > 0) {
    rows.push_back({{"workbook"},
                    {fmt::format("cells cut to the {} characters that a cell holds: {}; the CSV "
                                 "files have them whole",
                                 with_thousands(kMaxCellUnits), with_thousands(losses.cut))}});
  }
  if (rows.size() == before) rows.push_back({{"none"}});
}

void add_links(SummaryRows& rows, const std::vector<SheetPart>& parts) {
  add_section(rows, "Sheets", {header("sheet"), number_header("rows")});
  for (const SheetPart& part : parts) {
    rows.push_back({{part.name, CellStyle::kLink, false, part.name},
                    count(static_cast<int64_t>(part.rows()))});
  }
}

// The first column fits its texts, except for notes and titles, which may run over what is beside.
std::vector<size_t> column_widths(const SummaryRows& rows) {
  size_t name = kMinNameWidth;
  for (const auto& row : rows) {
    if (row.size() > 1) name = std::max(name, screen_width(row.front().content) + 2);
  }
  return {std::min(name, kMaxNameWidth), 22, 14, 16, 12};
}

std::string links_xml(const SummaryRows& rows) {
  std::string xml;
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t column = 0; column < rows[row].size(); ++column) {
      const SummaryCell& cell = rows[row][column];
      if (cell.sheet.empty()) continue;
      xml += fmt::format(R"(<hyperlink ref="{}" location="')", cell_name(column, row + 1));
      append_xml(xml, cell.sheet);
      xml += R"('!A1"/>)";
    }
  }
  return xml.empty() ? xml : "<hyperlinks>" + xml + "</hyperlinks>";
}

}  // namespace

SummaryRows summary_rows(const Summary& summary, const std::vector<SheetPart>& parts,
                         const CellLosses& losses) {
  SummaryRows rows;
  rows.push_back({{"Fathom performance report", CellStyle::kTitle}});
  rows.emplace_back();
  add_facts(rows, summary);
  add_wall_time(rows, summary);
  add_timeline(rows, summary.timeline);
  add_ops(rows, summary.ops);
  add_notes(rows, summary, parts, losses);
  add_links(rows, parts);
  return rows;
}

Status write_summary_sheet(ZipWriter& zip, std::string file, const SummaryRows& rows,
                           StringTable& strings) {
  SheetWriter sheet(zip, strings);
  const std::vector<size_t> widths = column_widths(rows);
  const std::string end = cell_name(widths.size() - 1, rows.size());
  TRY(sheet.begin(
      std::move(file),
      {R"(<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>)", "A1:" + end,
       R"(<sheetView showGridLines="0" tabSelected="1" workbookViewId="0"/>)", widths}));
  for (const auto& row : rows) {
    sheet.begin_row();
    size_t column = 0;
    for (const SummaryCell& cell : row) {
      if (cell.is_number) {
        sheet.number(column++, cell.content, cell.style);
      } else {
        sheet.text(column++, cell.content, cell.style);
      }
    }
    TRY(sheet.end_row());
  }
  return sheet.finish(links_xml(rows) + R"(<pageSetup fitToHeight="0"/>)");
}

}  // namespace fathom
