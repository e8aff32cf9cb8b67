#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/screen_text.h"
#include "plan/ablate/study_report.h"
#include "plan/ablate/study_words.h"
#include "plan/ablate/time_text.h"
#include "sheets/kernel_contexts.h"

namespace fathom::ablate {
namespace {

std::string text_table(const Table& table, const std::vector<std::string_view>& columns) {
  std::vector<const Column*> shown;
  std::vector<size_t> widths;
  for (const Column& column : table.columns()) {
    if (std::ranges::find(columns, column.name()) == columns.end() &&
        !column.name().starts_with("Time"))
      continue;
    size_t most = screen_width(column.name());
    for (size_t row = 0; row < table.rows(); ++row)
      most = std::max(most, screen_width(screen_safe(column.cell(row))));
    shown.push_back(&column);
    widths.push_back(std::min<size_t>(most, 60));
  }
  std::string out;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (size_t i = 0; i < shown.size(); ++i) {
      const bool is_last = i + 1 == shown.size();
      const std::string text = screen_safe(cell(*shown[i]));
      line += is_last ? text : fit_left(text, widths[i]) + "  ";
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  };
  add_line([](const Column& column) { return column.name(); });
  for (size_t row = 0; row < table.rows(); ++row)
    add_line([&](const Column& column) { return column.cell(row); });
  return out;
}

}  // namespace

std::string study_text(const Study& study, bool color) {
  const char *bold = color ? "\033[1m" : "", *plain = color ? "\033[0m" : "";
  std::string out = fmt::format("{}{}{}\n\n", bold, screen_safe(study.suite->title), plain);
  out += text_table(ablation_table(study, TableStyle::kShort),
                    {"Version", "Over baseline", "Over previous", "Verdict"});
  for (const StudyRow& row : study.rows) {
    for (const Warning& warning : row.warnings)
      out += fmt::format("{}: {}\n", screen_safe(row.variant->name), warning_text(warning));
  }
  if (study.has_drift)
    out += fmt::format("All runs together drift by {:+.1f} %.\n", study.drift_percent);
  if (!study.flags.empty())
    out +=
        "\n" + text_table(flag_table(study), {"Flag", "Alone", "Left out of all", "Interaction"});
  if (!study.pairs.empty())
    out += "\n" + text_table(pair_table(study),
                             {"Pair", "Product of both", "Measured together", "Interaction"});
  if (!study.best) return out + "\nNo variant has a time.\n";
  const StudyRow& best = study.rows[*study.best];
  out +=
      fmt::format("\nBest: {}, {}", screen_safe(best.variant->name), estimate_text(*best.times[0]));
  if (best.over_baseline[0])
    out += fmt::format("; over {}: {}", screen_safe(study.suite->baseline),
                       speed_up_text(*best.over_baseline[0]));
  if (best.floor) out += fmt::format("; roofline floor {}", time_text(*best.floor));
  return out + "\n";
}

std::string next_text(const Study& study) {
  if (!study.best) return "No variant has a time yet.\n";
  const StudyRow& best = study.rows[*study.best];
  std::string out =
      fmt::format("Best: {}, {}\n", screen_safe(best.variant->name), estimate_text(*best.times[0]));
  if (best.measured == nullptr || !best.measured->counters.ok)
    return out +
           "It has no hardware counters, so no hypothesis can be tested. Add [counters] to the "
           "suite and run it on a GPU.\n";
  if (best.floor)
    out += fmt::format("Roofline floor {}: at most {:.2f} × can be gained.\n",
                       time_text(*best.floor), best.times[0]->median / *best.floor);
  if (study.next.empty())
    out += "Next: none. No hypothesis is confirmed by its counters and untried on it.\n";
  for (size_t i = 0; i < study.next.size(); ++i) {
    const NextHypothesis& next = study.next[i];
    const std::string gain = next_gain_text(next);
    out += fmt::format("{}{} [{}]{}\n  evidence: {}\n",
                       i == 0 ? "Next: " : "Then: ", next.tested.hypothesis->title,
                       next.tested.hypothesis->id, gain.empty() ? "" : ", expected gain " + gain,
                       screen_safe(next.evidence));
    if (i == 0) out += fmt::format("  try: {}\n", next.tested.hypothesis->fix);
    if (!next.tried_in.empty())
      out += fmt::format("  tried on an earlier base: {}\n", screen_safe(next.tried_in));
    if (!next.tested.explained_by.empty())
      out += fmt::format("  a symptom of: {}\n", next.tested.explained_by);
  }
  if (!study.missing_command.empty())
    out +=
        fmt::format("{} to test others: {}\n",
                    counted(study.missing_counts.size(), "value is missing", "values are missing"),
                    study.missing_command);
  return out;
}

}  // namespace fathom::ablate
