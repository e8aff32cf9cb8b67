#include <fmt/format.h>

#include <algorithm>

#include "analyze/finding_parts.h"
#include "base/count_text.h"
#include "report/markdown.h"
#include "report/ranks/ranks_report.h"

namespace fathom {
namespace {

constexpr size_t kTableRows = 64, kMarkdownNotes = 20;

void section(std::string& out, std::string_view heading,
             const std::vector<std::string>& sentences) {
  std::string body;
  for (const std::string& s : sentences) {
    if (!s.empty()) body += md_prose(s) + "\n\n";
  }
  if (!body.empty()) out += fmt::format("## {}\n\n{}", heading, body);
}

// Some columns of a sheet, and the rows that are wanted; the whole is a file beside the page.
Table picked(const Table& sheet, std::initializer_list<std::string_view> names,
             const std::vector<bool>& wanted = {}) {
  const auto is_left_out = [&](size_t row) { return !wanted.empty() && !wanted[row]; };
  Table table(sheet.name());
  for (const std::string_view name : names) {
    const auto column = std::ranges::find(sheet.columns(), name, &Column::name);
    if (column == sheet.columns().end()) continue;
    if (column->is_text()) {
      Column& text = table.text_column(std::string(name));
      for (size_t row = 0; row < sheet.rows(); ++row) {
        if (!is_left_out(row)) text.add(column->text(row));
      }
      continue;
    }
    Column& number = column->unit() == Unit::kCount
                         ? table.count_column(std::string(name))
                         : table.real_column(std::string(name), column->unit());
    for (size_t row = 0; row < sheet.rows(); ++row) {
      if (is_left_out(row)) continue;
      if (!column->known(row)) {
        number.add_unknown();
      } else if (column->unit() == Unit::kCount) {
        number.add(static_cast<int64_t>(column->number(row)));
      } else {
        number.add(column->number(row));
      }
    }
  }
  return table;
}

// What a rank does longer, by more than a hundredth of its lateness.
std::vector<bool> rows_that_matter(const Table& lateness) {
  const auto column = [&](std::string_view name) -> const Column& {
    return *std::ranges::find(lateness.columns(), name, &Column::name);
  };
  const Column &more = column("more than the others (ms)"), &late = column("late by (ms)");
  std::vector<bool> wanted(lateness.rows());
  for (size_t row = 0; row < lateness.rows(); ++row)
    wanted[row] = more.number(row) > 0.01 * late.number(row);
  return wanted;
}

void add_table(std::string& out, const Table& table) {
  out += md_table(table, {.max_rows = kTableRows}) + "\n";
  if (table.rows() > kTableRows)
    out += fmt::format("{} more in `rank_csvs/{}.csv`.\n\n",
                       counted(table.rows() - kTableRows, "row"), table.name());
}

}  // namespace

std::string ranks_markdown(const RanksView& view) {
  const RankComparison& c = view.comparison;
  const RankSentences said = rank_sentences(view);
  std::string out = fmt::format("# {} side by side\n\n", counted(c.ranks.size(), "rank"));
  out += "![Ranks over time](ranks.svg)\n\n";
  section(out, "Who is late", {said.verdict});
  section(out, "Why", said.why);
  std::vector<std::string> clocks = {said.clocks};
  for (size_t i = 0; i < std::min(said.refused_clocks.size(), kMarkdownNotes); ++i)
    clocks.push_back("Not aligned: " + said.refused_clocks[i] + ".");
  section(out, "Clocks", clocks);
  section(out, "Time", {said.balance, said.overlap});
  section(out, "Critical path across ranks", {said.path});
  section(out, "Pipeline stages", {said.pipeline});
  section(out, "Experts", {said.experts});
  if (c.ranks.empty()) return out;
  const std::vector<Table> sheets = rank_sheets(c);
  const auto sheet = [&](std::string_view name) -> const Table& {
    return *std::ranges::find(sheets, name, &Table::name);
  };
  out += "## Ranks\n\n";
  add_table(out, picked(sheet("ranks"),
                        {"rank", "wall time (ms)", "computation (ms)", "exposed communication (ms)",
                         "communication under computation (%)", "idle (ms)", "waiting (ms)",
                         "exposed waiting (ms)", "last to begin", "late by (ms)", "clock",
                         "clock offset (µs)", "clock drift (ppm)", "clock drift ± (ppm)",
                         "clock residual (µs)", "pipeline stage"}));
  if (!c.collectives.empty()) {
    out +=
        "## Collectives\n\nTransfer is the time of the rank that takes least; skew is the time "
        "between the first rank to begin and the last.";
    if (c.link != nullptr)
      out += fmt::format(
          " The link is {}, {:.0f} GB/s in one direction, if the group is in one machine.",
          md_text(c.link->name), c.link->bytes_per_second / 1e9);
    out += "\n\n";
    add_table(out,
              picked(sheet("rank_collective_summary"),
                     {"Process Group Name", "Collective name", "message (MB)", "ranks", "count",
                      "transfer total (ms)", "skew total (ms)", "skew most (µs)", "algo bw (GB/s)",
                      "bus bw (GB/s)", "of the link (%)", "mostly last rank"}));
  }
  if (sheet("rank_lateness").rows() > 0) {
    out +=
        "## What late ranks do longer\n\nTime since the collective that the ranks have in common, "
        "beside the median of the other ranks.\n\n";
    add_table(out, picked(sheet("rank_lateness"),
                          {"rank", "last to begin", "late by (ms)", "what", "name", "place",
                           "more than the others (ms)", "own (ms)", "others (ms)", "own count",
                           "others count"},
                          rows_that_matter(sheet("rank_lateness"))));
  }
  if (!c.steps.empty()) {
    const auto worst = std::ranges::max_element(c.steps, {}, &StepRow::longest);
    const auto best = std::ranges::min_element(c.steps, {}, &StepRow::longest);
    out += fmt::format("## Steps\n\nBest step {} with {}, worst step {} with {} ({}).\n\n",
                       best->number, micros_text(best->longest), worst->number,
                       micros_text(worst->longest), md_words(c.rank_name(worst->longest_rank)));
    add_table(out, sheet("rank_steps"));
  }
  std::vector<std::string> notes;
  for (size_t i = 0; i < std::min(said.notes.size(), kMarkdownNotes); ++i)
    notes.push_back(said.notes[i] + ".");
  section(out, "Notes", notes);
  out += "All tables are in `rank_csvs/`; `summary.json` has the same for programs.\n";
  return out;
}

}  // namespace fathom
