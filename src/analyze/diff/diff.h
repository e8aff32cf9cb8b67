#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/table.h"
#include "sheets/sheets.h"

// What differs between two traces, A and B. Times are exact sums over each trace; what is divided
// by steps is made only where it is shown, so that every sum closes to the nanosecond.
namespace fathom {

struct Change {
  Nanos a, b;

  bool operator==(const Change&) const = default;
};

// What times are divided by: the steps of each where both have some; else totals are compared.
struct Divisors {
  int64_t a = 1, b = 1;
  bool steps = false;
};

__extension__ using WideInteger = __int128;
// The difference times both divisors: exact, and ordered as the differences are.
WideInteger scaled_difference(const Change& change, const Divisors& per);
// In nanoseconds, divided.
double difference(const Change& change, const Divisors& per);
double divided_a(Nanos time, const Divisors& per);
double divided_b(Nanos time, const Divisors& per);
// B's time over A's, as "4.2" for 4.2 % more. Unknown where A has none.
std::optional<double> percent_more(const Change& change, const Divisors& per);
// Whether B takes more than A and so many percent of it on top.
bool exceeds(const Change& change, const Divisors& per, double percent);

// How an op of A was found again in B, the surest first.
enum class MatchedBy : uint8_t { kPathAndArguments, kArguments, kFirstOperands, kPath, kNothing };
std::string_view describe(MatchedBy matched);

// What a row is in B, as against A. More or fewer calls where they make most of the difference:
// then the op itself is neither slower nor faster.
enum class ChangeKind : uint8_t {
  kSame,
  kSlower,
  kFaster,
  kMoreCalls,
  kFewerCalls,
  kAdded,
  kRemoved
};
std::string_view describe(ChangeKind kind);

struct KernelChange {
  std::string name;
  int64_t count_a = 0, count_b = 0;
  Change time;
};

// An op in one of the traces.
struct OpSide {
  int64_t calls = 0;
  Nanos time;  // the durations of its GPU work
  std::string category, path, dims, types;
  // How many call paths and argument sets are summed here; the texts are those of the first.
  int64_t merged = 1;
};

// How much of an op's difference the limits of two platforms explain: what the op would take on
// each at the same distance from its roofline. Filled by whoever knows costs and platforms.
struct LimitExplanation {
  double nanos_a = 0, nanos_b = 0;  // the least time that each platform allows, as divided above
};

struct OpChange {
  std::string name;
  MatchedBy matched = MatchedBy::kNothing;
  std::optional<OpSide> a, b;         // none: no such op there
  std::vector<KernelChange> kernels;  // by difference; they add up to the op
  bool other_kernels = false;         // the same op, lowered to other kernels
  std::optional<LimitExplanation> explained_by_limits;

  const OpSide& side() const { return a ? *a : *b; }
  Change time() const { return {a ? a->time : Nanos{}, b ? b->time : Nanos{}}; }
  ChangeKind kind(const Divisors& per) const;
  // What another number of calls makes at A's time per call, in nanoseconds, divided; the rest of
  // the difference is the time per call. Unknown for an op of one trace only.
  std::optional<double> difference_of_calls(const Divisors& per) const;
};

struct CategoryChange {
  std::string name;
  int64_t calls_a = 0, calls_b = 0;
  Change time;
};

// A part of the timeline, or a sum of parts.
struct TimelineChange {
  std::string_view name;
  bool is_part;  // the parts add up to the total
  Change time;
};

// What the diff says of one of the traces.
struct DiffSide {
  int64_t steps = 0;
  GpuTimeline timeline;
  Nanos work;           // the durations of all GPU work shown: what the ops add up to
  Nanos outside_steps;  // the part of it that no step launched, where there are steps
  Nanos start_up;       // that is left out
};

// The first rows that make up most of it.
struct Explanation {
  size_t ops = 0;
  double share = 0;            // 0.92: of the difference, or of all changes
  bool of_difference = false;  // else the changes cancel out, and it is the share of all of them
  double more = 0, less = 0;   // all that grew and all that shrank, in nanoseconds, divided
};

struct Diff {
  Divisors per;
  DiffSide a, b;
  std::vector<OpChange> ops;               // by the size of the difference
  std::vector<CategoryChange> categories;  // likewise
  // Whether the timelines are of the wall time; else of the span of the GPU's work.
  bool is_wall_time = false;

  Change work() const { return {a.work, b.work}; }
};

// Both scopes are alike but for what the traces make of them.
Diff diff_traces(const SheetInput& a, const SheetInput& b);

// Compute, exposed communication, exposed copies and idle, then busy and total.
std::vector<TimelineChange> timeline_changes(const Diff& diff);
Explanation explain(const Diff& diff);
bool nothing_differs(const Diff& diff);

// timeline, categories, ops and kernels.
std::vector<Table> diff_tables(const Diff& diff);

}  // namespace fathom
