#include "plan/ablate/study.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "plan/ablate/study_parts.h"

namespace fathom::ablate {
namespace {

class StudyMaker {
 public:
  StudyMaker(const Suite& suite, const Measurements& measurements, const Platform* platform)
      : suite_(suite), measurements_(measurements) {
    study_.suite = &suite;
    study_.measurements = &measurements;
    study_.platform = platform;
  }

  Study make() {
    for (const Variant& variant : suite_.variants) add_row(variant);
    for (size_t i = 0; i < study_.rows.size(); ++i) find_parent(i);
    for (StudyRow& row : study_.rows) compare(row);
    for (StudyRow& row : study_.rows) find_moved(row);
    decide();
    add_flag_effects(study_);
    find_drift();
    find_next(study_);
    return std::move(study_);
  }

 private:
  void add_row(const Variant& variant) {
    StudyRow row;
    row.variant = &variant;
    row.times.resize(suite_.cases.size());
    row.over_baseline.resize(suite_.cases.size());
    row.over_parent.resize(suite_.cases.size());
    const auto found = measurements_.variants.find(variant.name);
    if (found != measurements_.variants.end()) {
      row.measured = &found->second;
      find_state(row);
      if (row.state == RowState::kTimed) {
        check_timers(row);
        check_runs(row);
      }
      read_counters(row);
      if (row.state == RowState::kTimed) check_floor(row);
      if (row.state == RowState::kTimed) check_work(row);
    }
    study_.rows.push_back(std::move(row));
  }

  static void end(StudyRow& row, RowState state, std::string reason) {
    row.state = state;
    row.reason = std::move(reason);
  }

  void find_state(StudyRow& row) const {
    const VariantMeasurements& m = *row.measured;
    if (!m.build.done) return;
    if (!m.build.ok) return end(row, RowState::kNotBuilt, m.build.reason);
    if (!suite_.check.empty()) {
      if (!m.check.done) return;
      if (!m.check.ok) return end(row, RowState::kWrong, m.check.reason);
    }
    for (size_t i = 0; i < suite_.cases.size() && i < m.cases.size(); ++i) {
      const Timed& timed = m.cases[i];
      if (i == 0 && !timed.problem.empty()) return end(row, RowState::kNotRun, timed.problem);
      if (timed.problem.empty() && !timed.samples.empty())
        row.times[i] = estimate_of(first_times(timed));
    }
    if (row.times[0]) row.state = RowState::kTimed;
  }

  void check_timers(StudyRow& row) const {
    const VariantMeasurements& m = *row.measured;
    if (suite_.timing.second == SecondTimer::kNone) return;
    if (suite_.timing.second == SecondTimer::kCapture) {
      if (m.counters.ok && m.counters.kernel_seconds > 0) row.second = m.counters.kernel_seconds;
    } else {
      std::vector<double> values;
      for (const Sample& sample : m.cases[0].samples) {
        if (sample.second) values.push_back(*sample.second);
      }
      if (!values.empty()) row.second = median_of_times(values);
    }
    if (!row.second) return;
    const double first = row.times[0]->median;
    const double percent = 100 * std::abs(*row.second - first) / first;
    if (percent > suite_.timing.disagreement)
      row.warnings.push_back({Warning::Kind::kTimersDisagree, percent, *row.second});
  }

  static void check_runs(StudyRow& row) {
    const Timed& timed = row.measured->cases[0];
    const std::vector<double> times = first_times(timed);
    add_run_warnings(times, row.warnings);
    // The clock and the temperature while it ran.
    const auto spread = [&](auto member, Warning::Kind kind, double most_share, double most_step) {
      double low = HUGE_VAL, high = -HUGE_VAL;
      for (const Sample& sample : timed.samples) {
        if (!(sample.*member)) continue;
        low = std::min(low, *(sample.*member));
        high = std::max(high, *(sample.*member));
      }
      if (high > low * (1 + most_share) && high > low + most_step)
        row.warnings.push_back({kind, low, high});
    };
    spread(&Sample::clock_mhz, Warning::Kind::kClock, 0.05, 0);
    spread(&Sample::temperature, Warning::Kind::kTemperature, 0, 15);
  }

  void read_counters(StudyRow& row) const {
    const Counted& counted = row.measured->counters;
    if (!counted.ok) return;
    const auto value = [&](std::string_view name) { return known_value(counted.values, name); };
    row.occupancy = value("occupancy");
    row.tested = test_hypotheses(counted.values);
  }

  void check_floor(StudyRow& row) const {
    const Work work = work_of(suite_, *row.variant, 0);
    const double time = row.times[0]->median;
    if (work.bytes) {
      row.bandwidth = *work.bytes / time;
    } else if (row.measured->counters.ok) {
      const HardwareValues& values = row.measured->counters.values;
      const auto read = known_value(values, "dram_read"),
                 written = known_value(values, "dram_written");
      const auto micros = known_value(values, "duration_us");
      if (read && written && micros && *micros > 0) {
        row.bandwidth = (*read + *written) * 1e6 / (*micros * 1e-6);
        row.bandwidth_is_counted = true;
      }
    }
    if (study_.platform == nullptr) return;
    for (size_t i = 0; i < suite_.cases.size(); ++i) {
      if (!row.times[i]) continue;
      const auto floor = floor_of(work_of(suite_, *row.variant, i), *study_.platform);
      if (i == 0) row.floor = floor;
      // The median itself: a single run below the floor may be an error of the timer's.
      if (!floor || row.times[i]->median >= *floor) continue;
      row.reason = floor_reason(suite_.cases[i].name, row.times[i]->median, *floor);
      row.state = RowState::kUnderFloor;
      break;
    }
    if (row.state != RowState::kUnderFloor) return;
    row.times.assign(suite_.cases.size(), std::nullopt);
    row.bandwidth.reset();
    row.warnings.clear();
  }

  // Bytes at L1 count too: what L2 holds need not come from DRAM, but each byte is asked for.
  void check_work(StudyRow& row) const {
    const Counted& counted = row.measured->counters;
    if (!counted.ok) return;
    const Work work = work_of(suite_, *row.variant, 0);
    constexpr double kLeast = 0.9;
    const auto bytes = bytes_moved(counted.values);
    if (work.bytes && bytes && *bytes < kLeast * *work.bytes)
      row.warnings.push_back({Warning::Kind::kLessBytes, *bytes, *work.bytes});
    const auto flop = operations_done(counted.values);
    if (work.flop && flop && *flop < kLeast * *work.flop)
      row.warnings.push_back({Warning::Kind::kLessFlop, *flop, *work.flop});
  }

  static bool is_sound(const StudyRow& row) {
    return (row.state == RowState::kTimed || row.state == RowState::kNotMeasured) &&
           !does_less(row);
  }

  void find_parent(size_t i) {
    StudyRow& row = study_.rows[i];
    const Variant& variant = *row.variant;
    if (variant.name == suite_.baseline) return;
    const std::string& name = variant.parent.empty() ? suite_.baseline : variant.parent;
    if (const StudyRow* named = study_.row(name))
      row.parent = static_cast<size_t>(named - study_.rows.data());
    if (!variant.parent_is_default) return;
    for (size_t before = i; before-- > 0;) {
      if (!is_sound(study_.rows[before])) continue;
      row.parent = before;
      return;
    }
  }

  void compare(StudyRow& row) const {
    if (row.state != RowState::kTimed || row.variant->name == suite_.baseline) return;
    const StudyRow* baseline = study_.row(suite_.baseline);
    const StudyRow* parent = study_.parent_of(row);
    for (size_t i = 0; i < suite_.cases.size(); ++i) {
      if (!row.times[i]) continue;
      const std::vector<double> mine = first_times(row.measured->cases[i]);
      const auto over = [&](const StudyRow* other) -> std::optional<SpeedUp> {
        if (other == nullptr || other->state != RowState::kTimed || !other->times[i])
          return std::nullopt;
        return speed_up(first_times(other->measured->cases[i]), mine);
      };
      row.over_baseline[i] = over(baseline);
      row.over_parent[i] = over(parent);
    }
  }

  void find_moved(StudyRow& row) const {
    const StudyRow* parent = study_.parent_of(row);
    if (parent == nullptr || row.measured == nullptr) return;
    const HardwareValues* before = parent->measured != nullptr && parent->measured->counters.ok
                                       ? &parent->measured->counters.values
                                       : nullptr;
    const HardwareValues* after =
        row.measured->counters.ok ? &row.measured->counters.values : nullptr;
    row.expected = expected_moves(*row.variant, before, after);
    if (before != nullptr && after != nullptr)
      row.moved = telling_move(row.expected, parent->tested, *before, *after);
  }

  static bool does_less(const StudyRow& row) {
    return std::ranges::any_of(row.warnings, [](const Warning& w) {
      return w.kind == Warning::Kind::kLessBytes || w.kind == Warning::Kind::kLessFlop;
    });
  }

  // In the order of the suite: kept is what is faster than its parent and honest.
  void decide() {
    for (size_t i = 0; i < study_.rows.size(); ++i) {
      StudyRow& row = study_.rows[i];
      if (row.state != RowState::kTimed) continue;
      if (row.variant->name == suite_.baseline) {
        row.decision = Decision::kBaseline;
        study_.baseline = i;
      } else if (does_less(row)) {
        row.decision = Decision::kDropped;
      } else {
        // Combinations of flags do not build on each other.
        const bool by_parent = row.over_parent[0] && !suite_.has_flags;
        const auto& over = by_parent ? row.over_parent[0] : row.over_baseline[0];
        const bool faster = over && over->difference == Difference::kFaster;
        row.decision = faster ? Decision::kKept : Decision::kDropped;
        decide_by_hand(row);
      }
      const bool may_be_best =
          row.decision == Decision::kBaseline || row.decision == Decision::kKept;
      if (may_be_best &&
          (!study_.best || row.times[0]->median < study_.rows[*study_.best].times[0]->median))
        study_.best = i;
    }
    carry();
  }

  // The last note that keeps or drops it counts.
  void decide_by_hand(StudyRow& row) const {
    for (const Note& note : measurements_.notes) {
      if (note.variant != row.variant->name || (note.step != "kept" && note.step != "dropped"))
        continue;
      row.decision = note.step == "kept" ? Decision::kKept : Decision::kDropped;
      row.by_hand = true;
    }
  }

  // What the best builds on is in it, gain or none.
  void carry() {
    if (!study_.best || suite_.has_flags) return;
    const StudyRow* row = &study_.rows[*study_.best];
    std::set<std::string_view> seen;
    while ((row = study_.parent_of(*row)) != nullptr && seen.insert(row->variant->name).second) {
      StudyRow& one = study_.rows[static_cast<size_t>(row - study_.rows.data())];
      if (one.decision == Decision::kDropped && !does_less(one)) one.decision = Decision::kCarried;
    }
  }

  // Each run over the median of its variant, in the order of all runs.
  void find_drift() {
    std::vector<std::pair<int64_t, double>> runs;
    for (const StudyRow& row : study_.rows) {
      if (row.state != RowState::kTimed) continue;
      for (const Sample& sample : row.measured->cases[0].samples)
        runs.emplace_back(sample.order, sample.seconds / row.times[0]->median);
    }
    std::ranges::sort(runs);
    std::vector<double> series;
    for (const auto& [order, share] : runs) series.push_back(share);
    if (const auto percent = drift_percent(series)) {
      study_.drift_percent = *percent;
      study_.has_drift = true;
    }
  }

  const Suite& suite_;
  const Measurements& measurements_;
  Study study_;
};

}  // namespace

const StudyRow* Study::row(std::string_view variant) const {
  for (const StudyRow& row : rows) {
    if (row.variant->name == variant) return &row;
  }
  return nullptr;
}

const StudyRow* Study::parent_of(const StudyRow& row) const {
  return row.parent ? &rows[*row.parent] : nullptr;
}

std::string Study::parent_name(const StudyRow& row) const {
  const StudyRow* parent = parent_of(row);
  return parent != nullptr ? parent->variant->name : std::string();
}

Work work_of(const Suite& suite, const Variant& variant, size_t in_case) {
  Work work = suite.work;
  for (const Work* more : {&suite.cases[in_case].work, &variant.work}) {
    if (more->bytes) work.bytes = more->bytes;
    if (more->flop) work.flop = more->flop;
    if (!more->spec.empty()) work.spec = more->spec;
  }
  return work;
}

std::optional<double> floor_of(const Work& work, const Platform& platform) {
  std::optional<double> floor;
  const auto raise = [&](const std::optional<double>& amount, const Rate* rate) {
    if (amount && rate != nullptr && rate->peak && *rate->peak > 0)
      floor = std::max(floor.value_or(0), *amount / *rate->peak);
  };
  raise(work.bytes, &platform.memory_bandwidth);
  if (!work.spec.empty()) raise(work.flop, platform.find(work.spec));
  return floor;
}

Study make_study(const Suite& suite, const Measurements& measurements, const Platform* platform) {
  return StudyMaker(suite, measurements, platform).make();
}

}  // namespace fathom::ablate
