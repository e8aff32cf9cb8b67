#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {

// What is to be measured of a program and why, before anything runs: plan.md for people, plan.toml
// for `fathom run`. Values only. A number that nobody knows yet is absent, not 0.

// What a goal asks for (data/plan/questions.tsv).
enum class Question : uint8_t {
  kCharacteristics,
  kComparison,
  kBottleneck,
  kImplementation,
  kOpportunity,
  kRegression
};
inline constexpr Question kAllQuestions[] = {Question::kCharacteristics, Question::kComparison,
                                             Question::kBottleneck,      Question::kImplementation,
                                             Question::kOpportunity,     Question::kRegression};

// What a goal is about, as the scan of the repository knows it.
enum class SubjectKind : uint8_t {
  kFeature,
  kKernel,
  kComponent,
  kOption,
  kEntryPoint,
  kPhase,
  kMetric,
  kProject  // the repository itself: everything that the scan found
};

enum class ConstraintKind : uint8_t { kTime, kHardware, kGpuCount, kAccuracy, kTool };

enum class Level : uint8_t { kHardware, kProcess, kApplication };

enum class ExperimentKind : uint8_t {
  kSmoke,      // does it run and can it be recorded
  kBaseline,   // the timeline of the program as it is
  kCounters,   // hardware counters of its kernels
  kStalls,     // why warps wait, by PC sampling
  kSweep,      // one option varied
  kFirstCall,  // cold against warm
  kCompare,    // two commands or configurations
  kHost        // CPU time and memory, no GPU
};

// Names in plan.toml: "bottleneck", "entry point", "hardware", "first call".
std::string_view question_name(Question question);
std::string_view subject_kind_name(SubjectKind kind);
std::string_view constraint_kind_name(ConstraintKind kind);
std::string_view level_name(Level level);
std::string_view experiment_kind_name(ExperimentKind kind);

struct GoalSubject {
  SubjectKind kind = SubjectKind::kFeature;
  std::string id;     // "paged_kv_cache", a kernel's or option's name
  std::string title;  // what reports call it
  std::string said;   // the words of the goal
  std::string where;  // "python/engine.py:12"; empty: no line
  bool operator==(const GoalSubject&) const = default;
};

struct GoalConstraint {
  ConstraintKind kind = ConstraintKind::kTime;
  std::string said;   // the words of the goal
  std::string value;  // "1200" (s), "H100 SXM", "2", "0.001", "ncu"
  bool operator==(const GoalConstraint&) const = default;
};

// A feature of the code and the metric that it makes worth tracking.
struct InformedBy {
  std::string feature, metric, where;
  bool operator==(const InformedBy&) const = default;
};

// The first open question of a plan whose goal has no word that stands for anything.
inline constexpr const char* kNothingUnderstood =
    "Nothing in the goal was understood: this is the general plan for the repository.";

struct GoalReading {
  std::string original;
  std::vector<Question> asked;
  std::vector<GoalSubject> subjects;
  std::vector<GoalConstraint> constraints;
  std::vector<std::string> interpreted;  // specific questions
  std::vector<InformedBy> informed_by;
  std::vector<std::string> unread;  // words of the goal that nothing stands for
  bool operator==(const GoalReading&) const = default;
};

// A line of the environment, with where it comes from: "doctor", "pyproject.toml:12", "unknown".
struct EnvironmentRow {
  std::string what, value, source;
  bool operator==(const EnvironmentRow&) const = default;
};

struct PlanEnvironment {
  std::string platform;  // as `fathom platforms` lists it; empty: unknown
  std::vector<EnvironmentRow> rows;
  std::vector<EnvironmentRow> fixed;   // what stays the same in all experiments
  std::vector<EnvironmentRow> varied;  // what the experiments change
  bool operator==(const PlanEnvironment&) const = default;
};

// A row of the tracking tables.
struct Requirement {
  Level level = Level::kHardware;
  std::string metric;              // id, a row of data/plan/metrics.tsv
  std::string title;               // "DRAM throughput"
  std::vector<std::string> names;  // counters valid on the chip; log patterns; probes
  std::string set;                 // hardware: the set of `fathom record --counters` that has them
  std::optional<int64_t> passes;   // hardware: of that set; absent: not known for the chip
  std::string why, how, where;     // where: file:line of the log line or of the place for a probe
  std::vector<std::string> experiments;  // ids of those that measure it
  bool operator==(const Requirement&) const = default;
};

// One value of what an experiment varies, for tables and fits.
using Setting = std::pair<std::string, std::string>;                 // name, value
using Variables = std::vector<std::pair<std::string, std::string>>;  // NAME, value

// One way to run an experiment's command.
struct Configuration {
  std::string name;                    // "page-size=16"; unique in the experiment
  std::vector<std::string> arguments;  // after the experiment's command
  Variables environment;               // beside the experiment's
  std::vector<Setting> settings;       // "page-size" = "16"
  bool operator==(const Configuration&) const = default;
};

// A number that is expected before the run. Without low and high: unknown, first measurement.
struct ExpectedObservation {
  std::string metric;         // id, a row of data/plan/metrics.tsv
  std::string subject;        // kernel (a pattern with *), function or log pattern; empty: the run
  std::string configuration;  // its name; empty: all of them
  std::string unit;
  std::optional<double> low, high;
  std::string source;  // the model, platform or line that the range comes from
  bool known() const { return low || high; }
  bool operator==(const ExpectedObservation&) const = default;
};

enum class CriterionKind : uint8_t {
  kMeasured,  // the metric has a value
  kExpected,  // the value lies in the expected range
  kAtMost,
  kAtLeast,
  kSpread,  // the confidence interval of the median is at most this many percent wide
  kByHand   // for the reader
};
std::string_view criterion_kind_name(CriterionKind kind);  // "at most"

// What must be true for a question to count as answered.
struct Criterion {
  CriterionKind kind = CriterionKind::kMeasured;
  std::string text;        // the question or statement, for people
  std::string experiment;  // id; empty: the one that it stands in
  std::string metric, subject;
  std::optional<double> value;  // of kAtMost, kAtLeast, kSpread
  std::string unit;
  bool operator==(const Criterion&) const = default;
};

// What would be unexpected, and the first explanation to look at.
struct Surprise {
  std::string text, look_at;
  std::string metric, subject;
  std::optional<double> below, above;  // the metric beyond these is the surprise
  std::string unit;
  bool operator==(const Surprise&) const = default;
};

struct Experiment {
  std::string id;  // "E1"
  std::string name;
  ExperimentKind kind = ExperimentKind::kBaseline;
  std::string purpose, hypothesis;
  std::vector<std::string> command;  // program and arguments; no shell is involved
  bool shell = false;                // command is one text for /bin/sh; never written by `plan`
  std::string folder;                // working folder, below the repository; empty: its root
  Variables environment;
  std::vector<Configuration> configurations;  // none: the command as it is
  bool recorded = true;                       // under `fathom record`, with these options
  std::vector<std::string> record;
  int64_t repetitions = 1, warmup = 0;
  double time_limit = 600;     // s, of one run
  bool ends_by_limit = false;  // a server: reaching the limit is its normal end
  bool needs_gpu = true;
  std::optional<double> budget;  // s, of all its runs
  std::string prepare;           // what a person has to do first; empty: nothing
  std::vector<ExpectedObservation> expected;
  std::vector<Criterion> success;
  std::vector<Surprise> surprises;
  bool operator==(const Experiment&) const = default;
};

struct Plan {
  std::string project;     // the repository's name
  std::string repository;  // its folder; relative to plan.toml's where it is not absolute
  GoalReading goal;
  PlanEnvironment environment;
  std::vector<Requirement> requirements;  // hardware, process, application
  std::vector<Experiment> experiments;    // in the order of running
  std::vector<std::string> analysis;
  std::vector<Criterion> success;
  std::vector<Surprise> surprises;
  std::optional<double> budget;       // s, of everything
  std::vector<std::string> left_out;  // what the budget or the limits of a plan did not allow
  std::vector<std::string> open;      // what is unknown and who can answer it
  bool operator==(const Plan&) const = default;
};

// The argument list of one run: the command with the configuration's arguments; null: none.
std::vector<std::string> command_of(const Experiment& experiment,
                                    const Configuration* configuration);
// The same under `fathom record`, which writes `capture`. The plain command where it is not
// recorded.
std::vector<std::string> profiling_command(const Experiment& experiment,
                                           const Configuration* configuration,
                                           const std::string& capture);
// "E2-page-size_16.capture": a file name whatever the names hold.
std::string capture_name(const Experiment& experiment, const Configuration* configuration);
// How many times the command runs, warm-up included; profiling by counters runs it twice each time.
int64_t runs_of(const Experiment& experiment);
// The seconds that it is expected to take: its budget, or all runs at their limit.
double seconds_of(const Experiment& experiment);
// For people and for a shell: quoted where needed, on one line.
std::string shell_line(const std::vector<std::string>& arguments);

}  // namespace fathom
