#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/hypotheses.h"
#include "plan/ablate/measurements.h"
#include "plan/ablate/suite.h"
#include "platform/platform.h"

// What the measurements of a suite mean: values only, no sentences.
namespace fathom::ablate {

enum class RowState : uint8_t {
  kTimed,
  kNotBuilt,
  kWrong,       // its output is wrong, or could not be checked
  kNotRun,      // a run failed or took too long
  kUnderFloor,  // faster than the hardware can be: refused
  kNotMeasured  // not yet, or not needed
};

enum class Decision : uint8_t {
  kNone,  // without a time
  kBaseline,
  kKept,
  kCarried,  // no gain by itself, but later variants that are kept build on it
  kDropped
};

enum class Difference : uint8_t { kUnknown, kFaster, kSlower, kNone, kNotResolved };

struct Estimate {  // seconds
  double median = 0, low = 0, high = 0;
  size_t count = 0;
};

// How many times faster: time before ÷ time after, with its interval.
struct SpeedUp {
  double ratio = 1, low = 1, high = 1;
  Difference difference = Difference::kUnknown;
  bool has_interval = true;  // false: too few runs for one; low and high are the ratio
};

struct Warning {
  enum class Kind : uint8_t {
    kTimersDisagree,  // a: percent; b: seconds by the second timer
    kOutliers,        // a: how many; b: of how many runs
    kDrift,           // a: percent from the first to the last run
    kClock,           // a, b: lowest and highest clock in MHz
    kTemperature,     // a, b: lowest and highest
    kLessBytes,       // a: bytes counted, b: bytes that must move
    kLessFlop,        // a: operations counted, b: those that must be done
    kFewRuns          // a: runs; no interval can be given
  };
  Kind kind = Kind::kDrift;
  double a = 0, b = 0;
};

// A counter before and after a change.
struct Moved {
  std::string value;
  std::optional<double> before, after;
  bool is_expected = false;         // the suite names it
  std::optional<bool> as_expected;  // unknown where a side was not counted
};

struct StudyRow {
  const Variant* variant = nullptr;
  const VariantMeasurements* measured = nullptr;  // null: nothing was
  std::optional<size_t> parent;                   // a row that it is compared with
  RowState state = RowState::kNotMeasured;
  std::string reason;
  std::vector<std::optional<Estimate>> times;                      // by case
  std::vector<std::optional<SpeedUp>> over_baseline, over_parent;  // by case
  std::optional<double> second, floor;                             // seconds, of the first case
  std::optional<double> bandwidth;                                 // bytes per second
  bool bandwidth_is_counted = false;                               // by counters, not from the work
  std::optional<double> occupancy;                                 // percent
  std::optional<Moved> moved;                                      // the one that tells most
  std::vector<Moved> expected;
  std::vector<Warning> warnings;
  std::vector<TestedHypothesis> tested;  // by its own counters
  Decision decision = Decision::kNone;
  bool by_hand = false;  // a note decided
};

// An independent flag: its effect alone, and the effect of leaving it out of all.
struct FlagEffect {
  std::string flag;
  std::optional<SpeedUp> alone, in_all;
  bool differs = false;  // beyond noise: it interacts with others
};

// Two flags: how much faster they are together than their product says.
struct PairEffect {
  std::string first, second;
  double expected = 1;  // product of the two speed-ups
  SpeedUp together;     // measured
  SpeedUp interaction;  // together ÷ expected
};

struct NextHypothesis {
  TestedHypothesis tested;
  std::optional<double> most_gain;  // not more than the roofline floor leaves
  bool is_bounded = false;          // by the floor
  std::string tried_in;             // a variant that tried it on another base; empty: none
  std::string evidence;
};

struct Study {
  const Suite* suite = nullptr;
  const Measurements* measurements = nullptr;
  const Platform* platform = nullptr;  // null: not known
  std::vector<StudyRow> rows;
  std::optional<size_t> baseline, best;  // rows with a time
  std::vector<FlagEffect> flags;
  std::vector<PairEffect> pairs;
  // For the best: confirmed by its counters and not tried on it, the largest gain first.
  std::vector<NextHypothesis> next;
  std::vector<std::string> missing_counts;  // values that untested hypotheses want
  std::string missing_command;
  double drift_percent = 0;  // of all runs together, from the first to the last
  bool has_drift = false;

  const StudyRow* row(std::string_view variant) const;
  // What it builds on: the one that the suite names, else the last one before it that was built, is
  // right and does all of its work. Null for the baseline.
  const StudyRow* parent_of(const StudyRow& row) const;
  std::string parent_name(const StudyRow& row) const;  // empty: none
};

// The suite and the measurements must outlive it.
Study make_study(const Suite& suite, const Measurements& measurements, const Platform* platform);

// The pairs of flags worth running, by the effects of single flags; at most suite.most_pairs.
std::vector<std::string> pairs_that_matter(const Study& study);

// The work of a variant and a case, from the most specific that says it.
Work work_of(const Suite& suite, const Variant& variant, size_t in_case);
// Seconds that the platform needs at its peaks; unknown where nothing is said of the work.
std::optional<double> floor_of(const Work& work, const Platform& platform);

}  // namespace fathom::ablate
