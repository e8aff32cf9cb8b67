#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyze/finding_parts.h"
#include "base/count_text.h"
#include "report/ranks/ranks_report.h"

namespace fathom {
namespace {

constexpr size_t kRankRows = 8, kCollectiveRows = 3, kNoteLines = 4;
constexpr size_t kWidestRank = 24, kGpusNamed = 3;

// Words on as many lines as they need, indented under the label.
void paragraph(Screen& screen, std::string_view label, const std::string& words, size_t width) {
  const std::string text = screen_safe(words);
  const size_t room = std::max<size_t>(width, 40) - 8;
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    if (!line.empty() && screen_width(line) + 1 + screen_width(word) > room) {
      screen.entry(label, line);
      label = "";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
    at = end + 1;
  }
  if (!line.empty()) screen.entry(label, line);
}

// The latest first, then those that wait longest; shown by number.
std::vector<uint32_t> foremost_ranks(const RankComparison& c) {
  std::vector<uint32_t> order(c.ranks.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&c](uint32_t x, uint32_t y) {
    if (c.late[x].late_by != c.late[y].late_by) return c.late[x].late_by > c.late[y].late_by;
    return c.rows[x].waiting > c.rows[y].waiting;
  });
  order.resize(std::min(order.size(), kRankRows));
  std::ranges::sort(order);
  return order;
}

// "+12.3 µs"; of clocks that are set differently "-3.0 h".
std::string clock_cell(const RankClock& clock) {
  if (clock.is_reference) return "reference";
  if (!clock.aligned()) return "not aligned";
  if (!clock.offset) return "unknown";
  const double micros = clock.offset->micros(), size = std::abs(micros);
  return size < 1e6     ? fmt::format("{:+.1f} µs", micros)
         : size < 7.2e9 ? fmt::format("{:+.3f} s", micros / 1e6)
                        : fmt::format("{:+.2f} h", micros / 3.6e9);
}

// The number; of a trace without one its name.
std::string rank_cell(const RankComparison& c, uint32_t rank) {
  const std::optional<int64_t> number = c.ranks[rank].rank;
  return number ? std::to_string(*number) : screen_safe(c.rank_name(rank));
}

std::string millis_cell(Nanos time) { return fmt::format("{:.2f}", time.millis()); }

void rank_table(Screen& screen, const RankComparison& c) {
  const std::vector<uint32_t> shown = foremost_ranks(c);
  size_t width = 7;
  for (const uint32_t r : shown) width = std::max(width, screen_width(rank_cell(c, r)));
  width = std::min(width, kWidestRank);
  screen.line("");
  screen.line(screen.dim(fmt::format("{} {:>9}{:>13}{:>10}{:>8}{:>9}{:>9}{:>6}{:>9}{:>14}",
                                     fit_left("rank", width), "wall ms", "computation", "exposed",
                                     "copies", "idle", "waiting", "last", "late by", "clock")));
  for (const uint32_t r : shown) {
    const RankFacts& facts = c.ranks[r];
    screen.line(fmt::format(
        "{} {:>9}{:>13}{:>10}{:>8}{:>9}{:>9}{:>6}{:>9} {:>13}", fit_left(rank_cell(c, r), width),
        millis_cell(facts.wall()), millis_cell(facts.parts[part_index(RankPart::kComputation)]),
        millis_cell(facts.parts[part_index(RankPart::kCommunication)]),
        millis_cell(facts.parts[part_index(RankPart::kCopies)]), millis_cell(facts.idle()),
        millis_cell(c.rows[r].waiting), c.rows[r].last, millis_cell(c.late[r].late_by),
        clock_cell(c.clocks.ranks[r])));
  }
  if (c.ranks.size() > kRankRows)
    screen.line(screen.dim(
        fmt::format("{} more in ranks.csv", counted(c.ranks.size() - kRankRows, "rank"))));
}

void collective_table(Screen& screen, const RankComparison& c) {
  if (c.collectives.empty()) return;
  screen.line("");
  screen.line(screen.dim(fmt::format("{:<28}{:>12}{:>8}{:>15}{:>13}{:>12}{:>10}", "collective",
                                     "message MB", "count", "transfer ms", "skew ms", "bus GB/s",
                                     "of link")));
  for (size_t i = 0; i < std::min(c.collectives.size(), kCollectiveRows); ++i) {
    const CollectiveRow& row = c.collectives[i];
    screen.line(fmt::format("{}{:>12}{:>8}{:>15}{:>13}{:>12}{:>10}",
                            fit_left(screen_safe(row.name), 28),
                            row.bytes ? fmt::format("{:.2f}", *row.bytes / (1 << 20)) : "unknown",
                            row.count, millis_cell(row.transfer), millis_cell(row.skew),
                            row.bus_rate ? fmt::format("{:.1f}", *row.bus_rate / 1e9) : "unknown",
                            row.of_link ? percent_text(*row.of_link) : "unknown"));
  }
  if (c.collectives.size() > kCollectiveRows)
    screen.line(screen.dim(fmt::format("{} more in rank_collective_summary.csv",
                                       counted(c.collectives.size() - kCollectiveRows, "kind"))));
}

// Who they are, who is late, why, and on which clocks.
void say_first(Screen& screen, const RankComparison& c, const RankSentences& said, size_t width) {
  std::string first = counted(c.ranks.size(), "rank");
  if (c.world_size) first += fmt::format(" of {}", with_thousands(*c.world_size));
  const auto gpus = c.gpus();
  for (size_t i = 0; i < std::min(gpus.size(), kGpusNamed); ++i)
    first += ", " + (gpus.size() > 1 ? fmt::format("{} × ", gpus[i].second) : "") + gpus[i].first;
  if (gpus.size() > kGpusNamed) first += fmt::format(", {} other GPUs", gpus.size() - kGpusNamed);
  first += fmt::format("; {} in common", counted(c.matches.all.size(), "collective"));
  if (!c.steps.empty()) first += fmt::format(", {}", counted(c.steps.size(), "step"));
  paragraph(screen, "Ranks", first, width);
  paragraph(screen, "Late", said.verdict, width);
  for (size_t i = 0; i < said.why.size(); ++i)
    paragraph(screen, i == 0 ? "Why" : "", said.why[i], width);
  paragraph(screen, "Clocks", said.clocks, width);
}

}  // namespace

std::string ranks_text(const RanksView& view, const TerminalStyle& style,
                       const ReportListing& written) {
  const RankComparison& c = view.comparison;
  const RankSentences said = rank_sentences(view);
  Screen screen(style);
  say_first(screen, c, said, style.width);
  const size_t clocks = style.verbose ? said.refused_clocks.size() : 2;
  for (size_t i = 0; i < std::min(said.refused_clocks.size(), clocks); ++i)
    paragraph(screen, "", "not aligned: " + said.refused_clocks[i], style.width);
  if (said.refused_clocks.size() > clocks)
    paragraph(screen, "", fmt::format("not aligned: {} more", said.refused_clocks.size() - clocks),
              style.width);
  paragraph(screen, "Time", said.balance + " " + said.overlap, style.width);
  paragraph(screen, "Path", said.path, style.width);
  paragraph(screen, "Stages", said.pipeline, style.width);
  paragraph(screen, "Experts", said.experts, style.width);
  if (!c.ranks.empty()) {
    rank_table(screen, c);
    collective_table(screen, c);
  }
  if (!said.notes.empty()) screen.line("");
  const size_t notes = style.verbose ? said.notes.size() : kNoteLines;
  for (size_t i = 0; i < std::min(said.notes.size(), notes); ++i)
    paragraph(screen, "Note", said.notes[i], style.width);
  if (said.notes.size() > notes)
    paragraph(screen, "",
              fmt::format("{} (--verbose shows them)",
                          counted(said.notes.size() - notes, "more note", "more notes")),
              style.width);
  if (!written.directory.empty()) {
    screen.line("");
    screen.entry("Report", report_words(written.directory, written.has_page(),
                                        "ranks.md, ranks.svg, rank_csvs/ …"));
  }
  return screen.take();
}

}  // namespace fathom
