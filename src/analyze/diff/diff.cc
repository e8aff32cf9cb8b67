#include "analyze/diff/diff.h"

#include <algorithm>
#include <cmath>

#include "analyze/diff/match_ops.h"
#include "base/sort_runs.h"
#include "sheets/time_base.h"

namespace fathom {
namespace {

// Enough of an explanation, and how many rows a sentence can name.
constexpr double kMost = 0.9, kTooMuch = 1.1;
constexpr size_t kNamedOps = 5, kNamedOfMany = 3;

WideInteger magnitude(WideInteger value) { return value < 0 ? -value : value; }

template <typename Row, typename TimeOf>
void sort_by_difference(std::vector<Row>& rows, const Divisors& per, TimeOf time_of) {
  sort_runs(rows, [&](const Row& x, const Row& y) {
    return magnitude(scaled_difference(time_of(x), per)) >
           magnitude(scaled_difference(time_of(y), per));
  });
}

int64_t steps_in_scope(const Steps& steps, const Scope& scope) {
  const size_t all = steps.all().size();
  if (!scope.steps) return static_cast<int64_t>(all);
  const size_t begin = std::min(scope.steps->begin, all), end = std::min(scope.steps->end, all);
  return static_cast<int64_t>(end - std::min(begin, end));
}

DiffSide measure_side(const SheetInput& input, Nanos work) {
  const Steps steps(input.store, input.scope.step_pattern);
  DiffSide side{steps_in_scope(steps, input.scope), measure_timeline(input), work, {}, {}};
  if (side.steps == 0) return side;
  for (EventId e : timeline_events(input)) {
    if (!step_of(steps, input.store, input.tree, e)) side.outside_steps += input.store.duration(e);
  }
  return side;
}

// Host time before, between and after the GPU's work counts as idle. Only where both traces have
// the same kind of base: a step is not to be compared with a recording.
void relate_to_wall_time(const SheetInput& a, const SheetInput& b, Diff& diff) {
  const TimeBase bases[] = {find_time_base(a, work_by_device(a)),
                            find_time_base(b, work_by_device(b))};
  if (bases[0].start_up) diff.a.start_up = bases[0].start_up->time;
  if (bases[1].start_up) diff.b.start_up = bases[1].start_up->time;
  if (bases[0].kind != bases[1].kind || bases[0].steps.empty() || bases[1].steps.empty()) return;
  diff.is_wall_time = true;
  GpuTimeline* const timelines[] = {&diff.a.timeline, &diff.b.timeline};
  for (size_t i = 0; i < 2; ++i) {
    const DeviceTime mean = bases[i].mean_device();
    GpuTimeline& t = *timelines[i];
    t.computation = mean.computation;
    t.exposed_communication = mean.exposed_communication;
    t.exposed_copies = mean.exposed_copies;
    t.busy = mean.busy;
    t.idle = mean.idle;
    t.total = bases[i].wall();
    t.begin = bases[i].begin();
    t.end = bases[i].end();
  }
}

std::optional<OpSide> sum_groups(const NameTable& names, const std::vector<PathGroup>& groups,
                                 const std::vector<size_t>& chosen) {
  if (chosen.empty()) return {};
  const PathGroup& first = groups[chosen.front()];
  OpSide side{0,
              {},
              std::string(first.category),
              names.path_text(first.key.path),
              std::string(names.text(first.key.dims)),
              std::string(names.text(first.key.types)),
              static_cast<int64_t>(chosen.size())};
  for (size_t i : chosen) {
    side.calls += groups[i].calls.count;
    side.time += groups[i].calls.time;
  }
  return side;
}

class DiffMaker {
 public:
  DiffMaker(const SheetInput& a, const SheetInput& b)
      : a_(group_ops(a, names_)), b_(group_ops(b, names_)) {
    diff_.a = measure_side(a, a_.work);
    diff_.b = measure_side(b, b_.work);
    if (diff_.a.steps > 0 && diff_.b.steps > 0) diff_.per = {diff_.a.steps, diff_.b.steps, true};
  }

  Diff make() {
    for (const OpMatch& match : match_ops(a_.groups, b_.groups)) diff_.ops.push_back(change(match));
    sort_by_difference(diff_.ops, diff_.per, [](const OpChange& op) { return op.time(); });
    compare_categories();
    return std::move(diff_);
  }

 private:
  OpChange change(const OpMatch& match) const {
    const PathGroup& first =
        match.a.empty() ? b_.groups[match.b.front()] : a_.groups[match.a.front()];
    OpChange op;
    op.name = names_.text(first.key.name);
    op.matched = match.by;
    op.a = sum_groups(names_, a_.groups, match.a);
    op.b = sum_groups(names_, b_.groups, match.b);
    op.kernels = compare_kernels(match);
    const auto in_one_only = [](const KernelChange& k) { return k.count_a == 0 || k.count_b == 0; };
    op.other_kernels = op.a && op.b && std::ranges::any_of(op.kernels, in_one_only);
    return op;
  }

  std::vector<KernelChange> compare_kernels(const OpMatch& match) const {
    std::map<std::string_view, KernelChange> by_name;
    for (size_t i : match.a) {
      for (const auto& [name, total] : a_.groups[i].kernels) {
        KernelChange& kernel = by_name[names_.text(name)];
        kernel.count_a += total.count;
        kernel.time.a += total.time;
      }
    }
    for (size_t i : match.b) {
      for (const auto& [name, total] : b_.groups[i].kernels) {
        KernelChange& kernel = by_name[names_.text(name)];
        kernel.count_b += total.count;
        kernel.time.b += total.time;
      }
    }
    std::vector<KernelChange> kernels;
    for (auto& [name, kernel] : by_name) {
      kernel.name = name;
      kernels.push_back(std::move(kernel));
    }
    sort_by_difference(kernels, diff_.per, [](const KernelChange& k) { return k.time; });
    return kernels;
  }

  void compare_categories() {
    std::map<std::string_view, CategoryChange> by_name;
    for (const auto& [name, total] : a_.categories) {
      by_name[name].calls_a = total.count;
      by_name[name].time.a = total.time;
    }
    for (const auto& [name, total] : b_.categories) {
      by_name[name].calls_b = total.count;
      by_name[name].time.b = total.time;
    }
    for (auto& [name, category] : by_name) {
      category.name = name;
      diff_.categories.push_back(category);
    }
    sort_by_difference(diff_.categories, diff_.per, [](const CategoryChange& c) { return c.time; });
  }

  NameTable names_;
  GroupedOps a_, b_;
  Diff diff_;
};

}  // namespace

WideInteger scaled_difference(const Change& change, const Divisors& per) {
  return static_cast<WideInteger>(change.b.count) * per.a -
         static_cast<WideInteger>(change.a.count) * per.b;
}

double difference(const Change& change, const Divisors& per) {
  return static_cast<double>(scaled_difference(change, per)) /
         (static_cast<double>(per.a) * static_cast<double>(per.b));
}

double divided_a(Nanos time, const Divisors& per) {
  return static_cast<double>(time.count) / static_cast<double>(per.a);
}

double divided_b(Nanos time, const Divisors& per) {
  return static_cast<double>(time.count) / static_cast<double>(per.b);
}

std::optional<double> percent_more(const Change& change, const Divisors& per) {
  if (change.a == Nanos{}) return {};
  return difference(change, per) / divided_a(change.a, per) * 100;
}

bool exceeds(const Change& change, const Divisors& per, double percent) {
  const double more = difference(change, per);
  return more > 0 && more > divided_a(change.a, per) * percent / 100;
}

std::string_view describe(MatchedBy matched) {
  switch (matched) {
    case MatchedBy::kPathAndArguments:
      return "path, name, arguments";
    case MatchedBy::kArguments:
      return "name, arguments";
    case MatchedBy::kFirstOperands:
      return "name, first operands";
    case MatchedBy::kPath:
      return "path, name";
    case MatchedBy::kNothing:
      break;
  }
  return "not matched";
}

std::string_view describe(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kSame:
      return "same";
    case ChangeKind::kSlower:
      return "slower";
    case ChangeKind::kFaster:
      return "faster";
    case ChangeKind::kMoreCalls:
      return "more calls";
    case ChangeKind::kFewerCalls:
      return "fewer calls";
    case ChangeKind::kAdded:
      return "added";
    case ChangeKind::kRemoved:
      break;
  }
  return "removed";
}

ChangeKind OpChange::kind(const Divisors& per) const {
  if (!a) return ChangeKind::kAdded;
  if (!b) return ChangeKind::kRemoved;
  const WideInteger change = scaled_difference(time(), per);
  if (change == 0) return ChangeKind::kSame;
  const double share = *difference_of_calls(per) / difference(time(), per);
  if (share > 0.5) return change > 0 ? ChangeKind::kMoreCalls : ChangeKind::kFewerCalls;
  return change > 0 ? ChangeKind::kSlower : ChangeKind::kFaster;
}

std::optional<double> OpChange::difference_of_calls(const Divisors& per) const {
  if (!a || !b) return {};
  const double calls_a = static_cast<double>(a->calls) / static_cast<double>(per.a),
               calls_b = static_cast<double>(b->calls) / static_cast<double>(per.b);
  const double time_per_call = static_cast<double>(a->time.count) / static_cast<double>(a->calls);
  return (calls_b - calls_a) * time_per_call;
}

Diff diff_traces(const SheetInput& a, const SheetInput& b) {
  Diff diff = DiffMaker(a, b).make();
  relate_to_wall_time(a, b, diff);
  return diff;
}

std::vector<TimelineChange> timeline_changes(const Diff& diff) {
  const GpuTimeline &a = diff.a.timeline, &b = diff.b.timeline;
  return {{"compute", true, {a.computation, b.computation}},
          {"exposed communication", true, {a.exposed_communication, b.exposed_communication}},
          {"exposed copies", true, {a.exposed_copies, b.exposed_copies}},
          {"idle", true, {a.idle, b.idle}},
          {"busy", false, {a.busy, b.busy}},
          {"total", false, {a.total, b.total}}};
}

Explanation explain(const Diff& diff) {
  Explanation found;
  for (const OpChange& op : diff.ops) {
    const double change = difference(op.time(), diff.per);
    (change > 0 ? found.more : found.less) += change;
  }
  const double whole = difference(diff.work(), diff.per), all = found.more - found.less;
  // Where what grew and what shrank nearly cancel out, a share of the little that is left says
  // nothing.
  const bool cancels = std::abs(whole) < all / 2;
  const size_t named = std::min(diff.ops.size(), kNamedOps);
  double sum = 0, changes = 0;
  for (size_t i = 0; i < named; ++i) {
    const double change = difference(diff.ops[i].time(), diff.per);
    if (change == 0) break;
    sum += change;
    if (i < kNamedOfMany) {
      changes += std::abs(change);
      found.ops = i + 1;
    }
    const double share = cancels || whole == 0 ? 0 : sum / whole;
    if (share >= kMost && share <= kTooMuch) {
      found.ops = i + 1;
      found.share = share;
      found.of_difference = true;
      return found;
    }
  }
  found.share = all == 0 ? 0 : changes / all;
  return found;
}

bool nothing_differs(const Diff& diff) {
  for (const TimelineChange& part : timeline_changes(diff)) {
    if (scaled_difference(part.time, diff.per) != 0) return false;
  }
  return std::ranges::all_of(diff.ops, [&diff](const OpChange& op) {
    return op.kind(diff.per) == ChangeKind::kSame && op.matched == MatchedBy::kPathAndArguments &&
           op.a->calls * diff.per.b == op.b->calls * diff.per.a &&
           std::ranges::all_of(op.kernels, [&diff](const KernelChange& k) {
             return scaled_difference(k.time, diff.per) == 0;
           });
  });
}

}  // namespace fathom
