#include "plan/ablate/study_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/count_text.h"
#include "plan/ablate/time_text.h"
#include "report/markdown.h"
#include "sheets/kernel_contexts.h"
#include "trial/statistics.h"

namespace fathom::ablate {
namespace {

std::string scaled(double value) {
  const double size = std::abs(value);
  const auto digits = [](double v) { return v >= 100 ? 0 : v >= 10 ? 1 : 2; };
  if (size >= 1e9) return fmt::format("{:.{}f} G", value / 1e9, digits(size / 1e9));
  if (size >= 1e6) return fmt::format("{:.{}f} M", value / 1e6, digits(size / 1e6));
  if (size >= 1e4) return with_thousands(static_cast<int64_t>(value));
  return fmt::format("{:.{}f}", value, digits(size));
}

// "Bank conflicts" from "Shared memory bank conflicts (%)": a title begins with a capital.
std::string title_of(std::string_view name) {
  std::string title = value_title(name);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z')
    title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

// To a picosecond: a table has no digits that are only rounding.
double micros(double seconds) { return std::round(seconds * 1e12) / 1e6; }

std::string case_suffix(const Suite& suite, size_t i) {
  return suite.cases[i].name.empty() ? "" : ", " + suite.cases[i].name;
}

void add_speed_up(Table& table, const Study& study, const std::string& title,
                  std::vector<std::optional<SpeedUp>> StudyRow::* member, size_t in_case) {
  Column& ratio = table.real_column(title);
  Column& low = table.real_column(title + ", low");
  Column& high = table.real_column(title + ", high");
  Column& words = table.text_column(title + ", difference");
  for (const StudyRow& row : study.rows) {
    const auto& s = (row.*member)[in_case];
    if (!s) {
      ratio.add_unknown(), low.add_unknown(), high.add_unknown(), words.add_unknown();
      continue;
    }
    ratio.add(s->ratio), words.add(difference_name(s->difference));
    low.add(s->has_interval ? std::optional(s->low) : std::nullopt);
    high.add(s->has_interval ? std::optional(s->high) : std::nullopt);
  }
}

void add_times(Table& table, const Study& study, size_t in_case) {
  const std::string suffix = case_suffix(*study.suite, in_case);
  Column& median = table.real_column("Time (µs)" + suffix, Unit::kMicros);
  Column& low = table.real_column("Time low (µs)" + suffix, Unit::kMicros);
  Column& high = table.real_column("Time high (µs)" + suffix, Unit::kMicros);
  Column& runs = table.count_column("Runs" + suffix);
  for (const StudyRow& row : study.rows) {
    const auto& time = row.times[in_case];
    if (!time) {
      median.add_unknown(), low.add_unknown(), high.add_unknown(), runs.add_unknown();
      continue;
    }
    median.add(micros(time->median)), low.add(micros(time->low)), high.add(micros(time->high));
    runs.add(static_cast<int64_t>(time->count));
  }
}

std::string time_cell(const Estimate& time, bool whole) {
  if (whole) return estimate_text(time);
  return fmt::format("{} ± {:.1f} %", time_text(time.median),
                     50 * (time.high - time.low) / time.median);
}

std::string speed_up_cell(const SpeedUp& s, bool whole) {
  if (whole) return speed_up_text(s);
  if (s.difference == Difference::kNone) return "no difference";
  if (s.difference == Difference::kNotResolved) return "not resolved";
  return fmt::format("{:.3f} ×", s.ratio);
}

std::string all_warnings(const StudyRow& row) {
  std::string out;
  for (const Warning& warning : row.warnings)
    out += (out.empty() ? "" : "; ") + warning_text(warning);
  return out;
}

}  // namespace

std::string_view state_name(RowState state) {
  switch (state) {
    case RowState::kTimed:
      return "timed";
    case RowState::kNotBuilt:
      return "not built";
    case RowState::kWrong:
      return "wrong";
    case RowState::kNotRun:
      return "failed";
    case RowState::kUnderFloor:
      return "refused";
    case RowState::kNotMeasured:
      break;
  }
  return "not measured";
}

std::string_view decision_name(Decision decision) {
  switch (decision) {
    case Decision::kBaseline:
      return "baseline";
    case Decision::kKept:
      return "kept";
    case Decision::kCarried:
      return "kept as a base";
    case Decision::kDropped:
      return "dropped";
    case Decision::kNone:
      break;
  }
  return "";
}

std::string_view difference_name(Difference difference) {
  switch (difference) {
    case Difference::kFaster:
      return "faster";
    case Difference::kSlower:
      return "slower";
    case Difference::kNone:
      return "no difference";
    case Difference::kNotResolved:
      return sample_verdict_name(SampleVerdict::kNotResolved);
    case Difference::kUnknown:
      break;
  }
  return "too few runs to tell";
}

std::string verdict_text(const StudyRow& row) {
  if (row.state == RowState::kNotMeasured) return "not measured";
  if (row.state != RowState::kTimed)
    return fmt::format("{}: {}", state_name(row.state), row.reason);
  if (row.decision == Decision::kBaseline) return "baseline";
  const bool by_parent = row.over_parent[0] && row.variant->flag_names.empty();
  const auto& over = by_parent ? row.over_parent[0] : row.over_baseline[0];
  std::string out(over ? difference_name(over->difference) : "no comparison");
  for (const Warning& warning : row.warnings) {
    if (warning.kind == Warning::Kind::kLessBytes || warning.kind == Warning::Kind::kLessFlop)
      out = "does less work";
  }
  out += fmt::format(": {}", decision_name(row.decision));
  return row.by_hand ? out + " (by hand)" : out;
}

std::string warning_text(const Warning& w) {
  using Kind = Warning::Kind;
  switch (w.kind) {
    case Kind::kTimersDisagree:
      return fmt::format("timers disagree by {:.1f} %: {} by the second", w.a, time_text(w.b));
    case Kind::kOutliers:
      return fmt::format("{} of {} runs", counted(static_cast<uint64_t>(w.a), "outlier"),
                         static_cast<int64_t>(w.b));
    case Kind::kDrift:
      return fmt::format("times drift by {:+.1f} % from the first run to the last", w.a);
    case Kind::kClock:
      return fmt::format("GPU clock between {:.0f} and {:.0f} MHz", w.a, w.b);
    case Kind::kTemperature:
      return fmt::format("GPU temperature between {:.0f} and {:.0f} °C", w.a, w.b);
    case Kind::kLessBytes:
      return fmt::format("does less work: {} of {} MB that must move were counted",
                         with_thousands(std::llround(w.a / 1e6)),
                         with_thousands(std::llround(w.b / 1e6)));
    case Kind::kLessFlop:
      return fmt::format("does less work: {} of {} GFLOP that must be done were counted",
                         with_thousands(std::llround(w.a / 1e9)),
                         with_thousands(std::llround(w.b / 1e9)));
    case Kind::kFewRuns:
      break;
  }
  return fmt::format("{}: too few for a confidence interval, the range is shown",
                     counted(static_cast<uint64_t>(w.a), "run"));
}

std::string speed_up_text(const SpeedUp& s) {
  if (s.difference == Difference::kNone)
    return fmt::format("no difference ({:.3f}–{:.3f} ×)", s.low, s.high);
  if (s.difference == Difference::kNotResolved)
    return fmt::format("not resolved ({:.3f}–{:.3f} ×)", s.low, s.high);
  const int digits = s.ratio >= 100 ? 1 : s.ratio >= 10 ? 2 : 3;
  if (!s.has_interval) return fmt::format("{:.{}f} ×", s.ratio, digits);
  return fmt::format("{:.{}f} × ({:.{}f}–{:.{}f})", s.ratio, digits, s.low, digits, s.high, digits);
}

std::string estimate_text(const Estimate& time) {
  const std::string median = time_text(time.median);
  const std::string low = time_text(time.low), high = time_text(time.high);
  const auto number = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  const auto unit = [](const std::string& text) { return text.substr(text.find(' ')); };
  const bool same = unit(low) == unit(median) && unit(high) == unit(median);
  return fmt::format("{} ({}–{})", median, same ? number(low) : low, same ? number(high) : high);
}

std::string hardware_value_text(std::string_view name, double value) {
  const std::string_view unit = value_unit(name);
  if (unit == kYesOrNoUnit) return value != 0 ? "yes" : "no";
  return scaled(value) + (unit.empty() ? "" : " ") + std::string(unit);
}

std::string moved_text(const Moved& moved) {
  const auto side = [&](const std::optional<double>& value) {
    return value ? hardware_value_text(moved.value, *value) : std::string("not counted");
  };
  std::string before = side(moved.before);
  const std::string after = side(moved.after);
  const std::string unit = " " + std::string(value_unit(moved.value));
  if (moved.before && moved.after && unit.size() > 1 && before.ends_with(unit))
    before.resize(before.size() - unit.size());
  return fmt::format("{} {} → {}", title_of(moved.value), before, after);
}

std::string bandwidth_text(const StudyRow& row, const Platform* platform) {
  if (!row.bandwidth) return {};
  const double rate = *row.bandwidth / 1e9;
  std::string out = rate < 100 ? fmt::format("{:.1f} GB/s", rate)
                               : fmt::format("{} GB/s", with_thousands(std::llround(rate)));
  if (platform != nullptr && platform->memory_bandwidth.peak)
    out += fmt::format(", {:.0f} %", 100 * *row.bandwidth / *platform->memory_bandwidth.peak);
  return out;
}

std::string next_gain_text(const NextHypothesis& next) {
  std::string text = gain_text(next.tested);
  if (!text.empty() && next.is_bounded)
    text += fmt::format(", at most {:.2f} × by the roofline floor", *next.most_gain);
  return text;
}

std::string hypothesis_evidence(const StudyRow& row, const TestedHypothesis& tested) {
  KernelContext context;
  context.values = row.measured->counters.values;
  return evidence_text(context, tested);
}

std::string case_words(const Case& of) {
  return of.name.empty() ? "" : fmt::format(", {}", md_prose(of.name));
}

std::string hypothesis_title(const std::string& hypothesis) {
  for (const Hypothesis& one : hypotheses()) {
    if (one.id == hypothesis) return std::string(one.title);
  }
  return hypothesis;
}

Table ablation_sheet(const Study& study) {
  Table table("ablation");
  Column& version = table.text_column("Version");
  Column& parent = table.text_column("Builds on");
  Column& state = table.text_column("State");
  for (const StudyRow& row : study.rows) {
    version.add(row.variant->name);
    parent.add(study.parent_name(row));
    state.add(state_name(row.state));
  }
  for (size_t i = 0; i < study.suite->cases.size(); ++i) add_times(table, study, i);
  for (size_t i = 0; i < study.suite->cases.size(); ++i) {
    const std::string suffix = case_suffix(*study.suite, i);
    add_speed_up(table, study, "Speed-up over baseline" + suffix, &StudyRow::over_baseline, i);
    add_speed_up(table, study, "Speed-up over previous" + suffix, &StudyRow::over_parent, i);
  }
  Column& second = table.real_column("Second timer (µs)", Unit::kMicros);
  Column& floor = table.real_column("Roofline floor (µs)", Unit::kMicros);
  Column& bandwidth = table.real_column("Bandwidth (GB/s)", Unit::kGigabytesPerSecond);
  Column& occupancy = table.real_column("Occupancy (%)", Unit::kPercent);
  Column& change = table.text_column("Key change");
  Column& counter = table.text_column("Counter that moved");
  Column& before = table.real_column("Counter before");
  Column& after = table.real_column("Counter after");
  Column& decision = table.text_column("Decision");
  Column& verdict = table.text_column("Verdict");
  Column& warnings = table.text_column("Warnings");
  for (const StudyRow& row : study.rows) {
    const auto scaled_time = [](const std::optional<double>& s) {
      return s ? std::optional(micros(*s)) : std::nullopt;
    };
    second.add(scaled_time(row.second));
    floor.add(scaled_time(row.floor));
    bandwidth.add(row.bandwidth ? std::optional(*row.bandwidth / 1e9) : std::nullopt);
    occupancy.add(row.occupancy);
    change.add(row.variant->change);
    if (row.moved) {
      counter.add(row.moved->value);
      before.add(row.moved->before);
      after.add(row.moved->after);
    } else {
      counter.add_unknown(), before.add_unknown(), after.add_unknown();
    }
    decision.add(decision_name(row.decision));
    verdict.add(verdict_text(row));
    warnings.add(all_warnings(row));
  }
  return table;
}

Table ablation_table(const Study& study, TableStyle style) {
  const bool markdown = style == TableStyle::kMarkdown;
  const auto inert = [&](const std::string& text) { return markdown ? md_prose_cell(text) : text; };
  const Suite& suite = *study.suite;
  Table table("ablation");
  Column& version = table.text_column("Version");
  std::vector<Column*> times;
  for (size_t i = 0; i < suite.cases.size(); ++i)
    times.push_back(&table.text_column("Time" + case_suffix(suite, i)));
  Column& baseline = table.text_column("Over baseline");
  Column& parent = table.text_column("Over previous");
  Column& bandwidth = table.text_column("Bandwidth");
  Column& occupancy = table.text_column("Occupancy");
  Column& change = table.text_column("Key change");
  Column& moved = table.text_column("Counter that moved");
  Column& verdict = table.text_column("Verdict");
  for (const StudyRow& row : study.rows) {
    // A pair of flags that did not matter was not run.
    if (row.state == RowState::kNotMeasured && row.variant->only_if_pairs_matter) continue;
    version.add(markdown ? md_code_cell(row.variant->name) : row.variant->name);
    for (size_t i = 0; i < times.size(); ++i)
      times[i]->add(row.times[i] ? time_cell(*row.times[i], markdown) : std::string());
    baseline.add(row.over_baseline[0] ? speed_up_cell(*row.over_baseline[0], markdown)
                                      : std::string());
    parent.add(row.over_parent[0] ? speed_up_cell(*row.over_parent[0], markdown) : std::string());
    bandwidth.add(bandwidth_text(row, study.platform));
    occupancy.add(row.occupancy ? fmt::format("{:.1f} %", *row.occupancy) : std::string());
    change.add(inert(row.variant->change));
    moved.add(row.moved ? moved_text(*row.moved) : std::string());
    verdict.add(inert(verdict_text(row)));
  }
  return table;
}

Table flag_table(const Study& study) {
  Table table("flags");
  Column& flag = table.text_column("Flag");
  Column& alone = table.text_column("Alone");
  Column& in_all = table.text_column("Left out of all");
  Column& note = table.text_column("Interaction");
  for (const FlagEffect& effect : study.flags) {
    flag.add(effect.flag);
    alone.add(effect.alone ? speed_up_text(*effect.alone) : std::string("not measured"));
    in_all.add(effect.in_all ? speed_up_text(*effect.in_all) : std::string("not measured"));
    note.add(!effect.alone || !effect.in_all ? "unknown"
             : effect.differs                ? "depends on other flags"
                                             : "independent");
  }
  return table;
}

Table pair_table(const Study& study) {
  Table table("pairs");
  Column& pair = table.text_column("Pair");
  Column& expected = table.text_column("Product of both");
  Column& together = table.text_column("Measured together");
  Column& interaction = table.text_column("Interaction");
  for (const PairEffect& effect : study.pairs) {
    pair.add(effect.first + " + " + effect.second);
    expected.add(fmt::format("{:.3f} ×", effect.expected));
    together.add(speed_up_text(effect.together));
    interaction.add(speed_up_text(effect.interaction) +
                    (effect.interaction.difference == Difference::kFaster ? ": they help each other"
                     : effect.interaction.difference == Difference::kSlower ? ": they overlap"
                                                                            : ""));
  }
  return table;
}

}  // namespace fathom::ablate
