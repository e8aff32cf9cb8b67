#include "story/run/phase_profile.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace fathom {

void IdleTimes::add(const IdleGap& gap, StringId op, StringId kernel) {
  const Nanos length = gap.gap.end - gap.gap.begin;
  all += length;
  by_cause[static_cast<size_t>(gap.cause)] += length;
  if (gap.blamed.valid()) blamed[{gap.cause, gap.blamed}] += length;
  if (op.valid()) before[{gap.cause, op}] += length;
  before_kernel[{gap.cause, kernel}] += length;
  if (!example.valid() || length > longest) {
    example = gap.after;
    longest = length;
  }
}

IdleCause IdleTimes::main_cause() const {
  size_t main = static_cast<size_t>(IdleCause::kOther);
  for (size_t i = 0; i < static_cast<size_t>(IdleCause::kCount); ++i)
    if (by_cause[i] > by_cause[main]) main = i;
  return static_cast<IdleCause>(main);
}

namespace {

struct RunPlace {
  size_t phase = SIZE_MAX, run = 0;
  bool operator==(const RunPlace&) const = default;
};

std::optional<double> param(const Cost& cost, std::string_view name) {
  for (const CostParam& p : cost.params) {
    if (p.name != name) continue;
    double value = 0;
    const auto [end, error] = std::from_chars(p.json.data(), p.json.data() + p.json.size(), value);
    if (error == std::errc() && end == p.json.data() + p.json.size()) return value;
  }
  return {};
}

// The rows of the products that take the most time, and an example.
void find_gemm_rows(const WorkLabels& labels, const EventStore& store, PhaseProfile& profile) {
  struct Rows {
    double time = 0, longest = 0;
    EventId example;
  };
  std::map<double, Rows> rows;
  std::unordered_map<const AssessedOp*, double> times;
  for (const EventId e : profile.work) {
    const AssessedOp* op = labels.op(e);
    if (op == nullptr || !op->group->cost) continue;
    const auto m = param(*op->group->cost, "M");
    if (!m || !param(*op->group->cost, "N") || !param(*op->group->cost, "K")) continue;
    const double time = static_cast<double>(store.duration(e).count);
    const double of_op = times[op] += time;
    Rows& r = rows[*m];
    r.time += time;
    if (r.example.valid() && of_op <= r.longest) continue;
    r.longest = of_op;
    r.example = e;
  }
  double most = -1;
  for (const auto& [m, r] : rows) {
    if (r.time <= most) continue;
    most = r.time;
    profile.gemm_rows = m;
    profile.gemm_event = r.example;
  }
  if (!profile.gemm_rows) return;
  const Cost& cost = *labels.op(profile.gemm_event)->group->cost;
  profile.gemm_n = param(cost, "N").value_or(0);
  profile.gemm_k = param(cost, "K").value_or(0);
}

double median_of(std::vector<Nanos> spans) {
  std::ranges::sort(spans);
  const size_t n = spans.size();
  return n == 0 ? 0
                : 0.5 * (static_cast<double>(spans[(n - 1) / 2].count) +
                         static_cast<double>(spans[n / 2].count));
}

// Tells a first run apart that is much slower than those after it.
void find_first_run(PhaseProfile& profile) {
  constexpr double kSlowerFirst = 1.5;
  constexpr double kLeastFirstExcess = 10'000;  // ns
  if (profile.spans.size() > 1) {
    const double others = median_of({profile.spans.begin() + 1, profile.spans.end()});
    const double first = static_cast<double>(profile.spans.front().count);
    profile.first_is_apart = first > kSlowerFirst * others && first - others > kLeastFirstExcess;
  }
  profile.median_span = median_of(profile.steady_spans());
}

class ProfileBuilder {
 public:
  ProfileBuilder(const RunFacts& facts, const WorkLabels& labels, const HardwareIndex& hardware,
                 const std::vector<Phase>& phases, const WorkFilter& is_told)
      : facts_(facts), labels_(labels), hardware_(hardware), phases_(phases), is_told_(is_told) {}

  PhaseProfiles build(std::vector<EventId> work) {
    const EventStore& store = facts_.input.store;
    place_.resize(store.size());
    for (size_t p = 0; p < phases_.size(); ++p)
      for (size_t r = 0; r < phases_[p].runs.size(); ++r)
        for (const EventId e : phases_[p].runs[r].work) place_[e.index] = {p, r};
    PhaseProfiles out;
    out.profiles.resize(phases_.size());
    out.owned.resize(store.size());
    std::vector<EventId> told;
    for (const EventId e : work)
      if (!is_told_ || is_told_(e)) told.push_back(e);
    const WorkShares shares = share_time(facts_.input, std::move(told));
    for (size_t i = 0; i < shares.work.size(); ++i)
      out.owned[shares.work[i].index] = shares.owned[i];
    for (size_t p = 0; p < phases_.size(); ++p) start_profile(phases_[p], out.profiles[p]);
    for (const EventId e : shares.work) {
      PhaseProfile& profile = out.profiles[place_[e.index].phase];
      profile.work.push_back(e);
      profile.busy += out.owned[e.index];
      const Nanos hidden = std::max(Nanos{}, store.duration(e)) - out.owned[e.index];
      if (hidden > Nanos{}) profile.hidden += static_cast<double>(hidden.count);
    }
    if (!is_told_ && facts_.has_timeline) add_gaps(std::move(work), out);
    for (PhaseProfile& profile : out.profiles) finish_profile(profile, out);
    return out;
  }

 private:
  void start_profile(const Phase& phase, PhaseProfile& profile) const {
    profile.phase = &phase;
    profile.run_gaps.resize(phase.runs.size());
  }

  void add_gaps(std::vector<EventId> work, PhaseProfiles& out) const {
    const CallTree& tree = facts_.input.tree;
    for (const IdleGap& gap : find_idle_gaps(facts_.input, std::move(work)).gaps) {
      if (!gap.before.valid() || !gap.after.valid()) continue;
      const RunPlace before = place_[gap.before.index], after = place_[gap.after.index];
      StringId op;
      if (const CallId launch = tree.launch(gap.after); launch.valid() && tree.has_launches()) {
        const CallId around = tree.enclosing_op(launch);
        if (around.valid()) op = facts_.input.store.name_id(tree.event(around));
      }
      const StringId kernel = facts_.input.store.name_id(gap.after);
      if (before == after) {
        PhaseProfile& profile = out.profiles[after.phase];
        profile.idle += gap.gap.end - gap.gap.begin;
        profile.gaps.add(gap, op, kernel);
        profile.run_gaps[after.run].add(gap, op, kernel);
      } else {
        out.between[{before.phase, after.phase}].add(gap, op, kernel);
      }
    }
  }

  // Spans of the runs, by what of them is told.
  void finish_profile(PhaseProfile& profile, const PhaseProfiles& all) const {
    const EventStore& store = facts_.input.store;
    struct Extent {
      Nanos begin, end;
      size_t kernels = 0;
    };
    std::vector<Extent> extents(profile.phase->runs.size());
    std::vector<Nanos> durations;
    for (const EventId e : profile.work) {
      Extent& run = extents[place_[e.index].run];
      const Nanos end = std::max(store.start(e), store.end(e));
      run.begin = run.kernels == 0 ? store.start(e) : std::min(run.begin, store.start(e));
      run.end = run.kernels == 0 ? end : std::max(run.end, end);
      ++run.kernels;
      if (store.kind(e) == EventKind::kKernel) durations.push_back(store.duration(e));
      profile.families[labels_.work_class(e)] += static_cast<double>(all.owned[e.index].count);
    }
    for (size_t r = 0; r < extents.size(); ++r) {
      if (extents[r].kernels == 0) continue;
      profile.spans.push_back(extents[r].end - extents[r].begin);
      profile.run_of_span.push_back(r);
    }
    if (profile.spans.empty()) return;
    // Other phases lie in between.
    if (!has_runs(profile.phase->kind)) profile.spans.front() = profile.time();
    find_first_run(profile);
    std::vector<size_t> order;
    for (size_t i = profile.first_is_apart ? 1 : 0; i < profile.spans.size(); ++i)
      order.push_back(i);
    std::ranges::sort(order, [&profile](size_t a, size_t b) {
      return std::tie(profile.spans[a], a) < std::tie(profile.spans[b], b);
    });
    profile.typical = order[(order.size() - 1) / 2];
    profile.kernels = extents[profile.run_of_span[profile.typical]].kernels;
    const size_t typical_run = profile.run_of_span[profile.typical];
    std::vector<Interval> covered;
    for (const EventId e : profile.work) {
      if (place_[e.index].run == profile.run_of_span.front())
        profile.first_busy += all.owned[e.index];
      if (place_[e.index].run == typical_run) {
        profile.typical_work.push_back(e);
        profile.typical_busy += all.owned[e.index];
        if (store.end(e) > store.start(e)) covered.push_back({store.start(e), store.end(e)});
      }
    }
    if (has_runs(profile.phase->kind))
      profile.typical_covered = total_length(merge_intervals(std::move(covered)));
    if (!durations.empty()) {
      const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
      std::ranges::nth_element(durations, middle);
      profile.median_kernel = static_cast<double>(middle->count);
    }
    profile.hardware = hardware_.state(profile.work);
    find_gemm_rows(labels_, store, profile);
  }

  const RunFacts& facts_;
  const WorkLabels& labels_;
  const HardwareIndex& hardware_;
  const std::vector<Phase>& phases_;
  const WorkFilter& is_told_;
  std::vector<RunPlace> place_;  // by event
};

}  // namespace

PhaseProfiles profile_phases(const RunFacts& facts, const WorkLabels& labels,
                             const HardwareIndex& hardware, const std::vector<Phase>& phases,
                             std::vector<EventId> work, const WorkFilter& is_told) {
  return ProfileBuilder(facts, labels, hardware, phases, is_told).build(std::move(work));
}

}  // namespace fathom
