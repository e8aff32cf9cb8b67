#include "plan/ablate/study_report.h"

#include <fmt/format.h>

#include "base/count_text.h"
#include "plan/ablate/fixes_section.h"
#include "plan/ablate/study_words.h"
#include "plan/ablate/time_text.h"
#include "report/markdown.h"
#include "sheets/kernel_contexts.h"

namespace fathom::ablate {
namespace {

std::string duration_words(double seconds) {
  if (seconds < 90) return fmt::format("{:.1f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.2f} h", seconds / 3600);
}

// Names of flags and variants are plain; what else a suite chose is inert already.
std::string all_markdown(const Table& table) {
  MarkdownTableStyle style;
  for (const Column& column : table.columns()) style.markdown_columns.push_back(column.name());
  return md_table(table, style);
}

class ReportWriter {
 public:
  ReportWriter(const Study& study, const ReportOptions& options)
      : study_(study), suite_(*study.suite), options_(options) {}

  std::string write() {
    out_ = fmt::format("# {}: optimization report\n", md_prose(suite_.title));
    objective();
    initial_state();
    method();
    bottlenecks();
    out_ += fixes_section(study_);
    table();
    final_result();
    what_worked();
    what_is_left();
    spent();
    return std::move(out_);
  }

 private:
  void heading(std::string_view text) { out_ += fmt::format("\n## {}\n\n", text); }
  void line(std::string_view text) { out_ += std::string(text) + "\n"; }

  void objective() {
    heading("Objective");
    line(suite_.objective.empty() ? "The suite names no objective." : md_prose(suite_.objective));
  }

  void initial_state() {
    heading("Initial state");
    if (!study_.baseline) {
      const StudyRow* row = study_.row(suite_.baseline);
      line(fmt::format("The baseline {} has no time: {}.", md_code(suite_.baseline),
                       row != nullptr ? md_prose(verdict_text(*row)) : "not measured"));
      return;
    }
    const StudyRow& row = study_.rows[*study_.baseline];
    line(fmt::format("- Baseline: {}{}", md_code(row.variant->name),
                     row.variant->change.empty() ? "" : ": " + md_prose(row.variant->change)));
    for (size_t i = 0; i < row.times.size(); ++i) {
      if (row.times[i])
        line(fmt::format("- Time{}: {}, median of {}", case_words(suite_.cases[i]),
                         estimate_text(*row.times[i]), counted(row.times[i]->count, "run")));
    }
    if (row.floor)
      line(fmt::format("- Roofline floor: {}; the baseline is at {:.1f} × of it",
                       time_text(*row.floor), row.times[0]->median / *row.floor));
    for (const auto& [name, value] : study_.measurements->environment)
      line(fmt::format("- {}: {}", md_prose(name), md_prose(value)));
    if (study_.platform != nullptr)
      line(fmt::format("- Peaks of: {}", md_prose(study_.platform->name)));
  }

  void method() {
    heading("Method");
    line(fmt::format("1. Each variant is built in a tree of its own ({}).",
                     counted(suite_.variants.size(), "variant")));
    if (suite_.check.empty())
      line("2. Correctness: not checked. The suite has no `[check]`.");
    else if (suite_.check.output.empty())
      line(
          "2. Correctness first: a check command exits with status 0 where the output is right. A "
          "wrong variant gets no time.");
    else
      line(
          fmt::format("2. Correctness first: the output is compared with {} ({}). A wrong variant "
                      "gets no time.",
                      suite_.check.reference.empty() ? md_code(suite_.check.reference_variant)
                                                     : md_code(suite_.check.reference),
                      tolerance_words()));
    line(fmt::format(
        "3. {} of each variant, interleaved: every second round runs backwards. Medians with 95 % "
        "confidence intervals that assume no distribution. There is no difference where the "
        "interval "
        "of the speed-up lies within 5 % of 1.",
        counted(static_cast<uint64_t>(suite_.repetitions), "run")));
    line(fmt::format("4. First timer: {}. Second timer: {}.", first_timer(), second_timer()));
    line(suite_.counters.wanted
             ? "5. Hardware counters of each variant by `fathom record --counters`; hypotheses are "
               "tested by them."
             : "5. No hardware counters: the suite requests none.");
    line(
        "6. A time under the roofline floor is refused. A variant that moves or computes less than "
        "it must is flagged and dropped.");
    if (study_.has_drift)
      line(fmt::format("\nAll runs together drift by {:+.1f} % from the first to the last.",
                       study_.drift_percent));
    if (study_.measurements->stale > 0)
      line(fmt::format("\n{} of another definition or source {} not used.",
                       counted(study_.measurements->stale, "finished step"),
                       study_.measurements->stale == 1 ? "is" : "are"));
  }

  std::string tolerance_words() const {
    if (suite_.check.norm)
      return fmt::format("relative norm of the error up to {:g}", *suite_.check.norm);
    if (suite_.check.absolute == 0 && suite_.check.relative == 0) return "equal";
    return fmt::format("tolerance {:g} + {:g} · |expected|", suite_.check.absolute,
                       suite_.check.relative);
  }

  std::string first_timer() const {
    return suite_.timing.pattern.empty()
               ? "wall time of the process"
               : fmt::format("printed, {}", md_code(suite_.timing.pattern));
  }
  std::string second_timer() const {
    switch (suite_.timing.second) {
      case SecondTimer::kCapture:
        return fmt::format(
            "the kernel's median duration in the capture; a disagreement over {:g} % "
            "is flagged",
            suite_.timing.disagreement);
      case SecondTimer::kPrinted:
        return fmt::format("printed, {}; a disagreement over {:g} % is flagged",
                           md_code(suite_.timing.second_pattern), suite_.timing.disagreement);
      case SecondTimer::kWall:
        return fmt::format("wall time; a disagreement over {:g} % is flagged",
                           suite_.timing.disagreement);
      case SecondTimer::kNone:
        break;
    }
    return "none";
  }

  void bottlenecks() {
    heading("Bottlenecks identified");
    const StudyRow* row = study_.baseline ? &study_.rows[*study_.baseline] : nullptr;
    if (row == nullptr || row->measured == nullptr || !row->measured->counters.ok) {
      const bool tried = row != nullptr && row->measured != nullptr && row->measured->counters.done;
      line(fmt::format("Not measured: the baseline has no hardware counters{}.",
                       tried ? " (" + md_prose(row->measured->counters.reason) + ")" : ""));
      return;
    }
    line(fmt::format("Of the baseline's kernel {}, by its counters:\n",
                     md_code(row->measured->counters.kernel)));
    bool any = false;
    for (const TestedHypothesis& tested : row->tested) {
      if (tested.verdict != Verdict::kConfirmed) continue;
      const std::string gain = gain_text(tested);
      line(fmt::format("- {}: {}{}", tested.hypothesis->title, hypothesis_evidence(*row, tested),
                       gain.empty() ? "" : fmt::format(". Expected gain {}", gain)));
      any = true;
    }
    if (!any) line("No hypothesis is confirmed.");
  }

  void table() {
    heading("Ablation table");
    out_ += all_markdown(ablation_table(study_, TableStyle::kMarkdown));
    line(
        "\nTimes are medians with their 95 % intervals. A speed-up is time before ÷ time after. "
        "Bandwidth is " +
        bandwidth_source() + ".");
    if (!waterfall_svg(study_).empty()) line("\n![Waterfall of the time](waterfall.svg)");
    if (!study_.flags.empty()) {
      out_ += "\n### Leave one out\n\n" + all_markdown(flag_table(study_));
      line("\n\"Left out of all\" is the time without the flag ÷ the time with all flags.");
    }
    if (study_.pairs.empty()) return;
    out_ += "\n### Interaction of pairs\n\n" + all_markdown(pair_table(study_));
    line("\nThe interaction is the measured speed-up of both ÷ the product of the single ones.");
  }

  std::string bandwidth_source() const {
    for (const StudyRow& row : study_.rows) {
      if (row.bandwidth)
        return row.bandwidth_is_counted ? "DRAM bytes by counters ÷ the counted time"
                                        : "the bytes that must move ÷ the time";
    }
    return "not known: the suite names no bytes and no counters were read";
  }

  void final_result() {
    heading("Final result");
    if (!study_.best) {
      line("No variant has a time.");
      return;
    }
    const StudyRow& best = study_.rows[*study_.best];
    line(fmt::format("- Best: {}{}", md_code(best.variant->name),
                     best.variant->change.empty() ? "" : ": " + md_prose(best.variant->change)));
    for (size_t i = 0; i < best.times.size(); ++i) {
      if (!best.times[i]) continue;
      line(fmt::format("- Time{}: {}{}", case_words(suite_.cases[i]), estimate_text(*best.times[i]),
                       best.over_baseline[i]
                           ? "; over the baseline: " + speed_up_text(*best.over_baseline[i])
                           : ""));
    }
    if (best.floor)
      line(fmt::format("- Roofline floor: {} ({:.1f} % of the time)", time_text(*best.floor),
                       100 * *best.floor / best.times[0]->median));
    if (best.bandwidth)
      line(fmt::format("- Bandwidth: {}{}", bandwidth_text(best, study_.platform),
                       study_.platform != nullptr ? " of peak" : ""));
    if (best.occupancy) line(fmt::format("- Occupancy: {:.1f} %", *best.occupancy));
  }

  void what_worked() {
    heading("What worked");
    list([](const StudyRow& row) { return row.decision == Decision::kKept; });
    heading("What did not");
    list([&](const StudyRow& row) {
      return row.variant->name != suite_.baseline && row.state != RowState::kNotMeasured &&
             row.decision != Decision::kKept;
    });
    for (const StudyRow& row : study_.rows) {
      for (const Moved& moved : row.expected) {
        if (moved.as_expected && !*moved.as_expected)
          line(fmt::format("- Prediction of {} failed: {}", md_code(row.variant->name),
                           moved_text(moved)));
      }
    }
  }

  template <class Wanted>
  void list(Wanted wanted) {
    bool any = false;
    for (const StudyRow& row : study_.rows) {
      if (row.variant->name == suite_.baseline || !wanted(row)) continue;
      any = true;
      std::string text =
          row.over_parent[0] ? speed_up_text(*row.over_parent[0]) : md_prose(verdict_text(row));
      if (row.decision == Decision::kCarried) text += "; the best variant builds on it";
      line(fmt::format(
          "- {}{}: {}", md_code(row.variant->name),
          row.variant->change.empty() ? "" : " (" + md_prose(row.variant->change) + ")", text));
    }
    if (!any) line("Nothing.");
  }

  void what_is_left() {
    heading("What is left");
    if (study_.best) {
      const StudyRow& best = study_.rows[*study_.best];
      if (best.floor) {
        line(fmt::format(
            "The bound: {} at the platform's peaks. At most {:.2f} × can be gained over {}.",
            time_text(*best.floor), best.times[0]->median / *best.floor,
            md_code(best.variant->name)));
      } else {
        line(
            "The bound is not known: the suite names no bytes or operations, or the platform is "
            "unknown.");
      }
    }
    if (study_.next.empty()) {
      line("\nNo hypothesis is confirmed by the counters of the best variant and untried on it.");
    } else {
      line("\nConfirmed by the counters of the best variant, and not tried on it:\n");
      for (const NextHypothesis& next : study_.next) {
        const std::string gain = next_gain_text(next);
        line(fmt::format("- {}: {}{}{}. {}", next.tested.hypothesis->title, next.evidence,
                         gain.empty() ? "" : fmt::format("; expected gain {}", gain),
                         next.tried_in.empty() ? ""
                                               : fmt::format("; tried on an earlier base in {}",
                                                             md_code(next.tried_in)),
                         std::string(next.tested.hypothesis->advice)));
      }
    }
    if (!study_.missing_command.empty())
      line(fmt::format(
          "\n{} to test further hypotheses: {}.",
          counted(study_.missing_counts.size(), "value is missing", "values are missing"),
          md_code(study_.missing_command)));
  }

  void spent() {
    heading("Time and money spent");
    const double seconds = study_.measurements->seconds_spent;
    line(fmt::format("Builds, checks, runs and counters: {}.", duration_words(seconds)));
    if (options_.cost_per_hour)
      line(fmt::format("At {}{:.2f} per hour: {}{:.2f}.", options_.currency,
                       *options_.cost_per_hour, options_.currency,
                       seconds / 3600 * *options_.cost_per_hour));
  }

  const Study& study_;
  const Suite& suite_;
  const ReportOptions& options_;
  std::string out_;
};

}  // namespace

std::string optimization_report(const Study& study, const ReportOptions& options) {
  return ReportWriter(study, options).write();
}

}  // namespace fathom::ablate
