#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/finding_parts.h"
#include "base/utf8.h"
#include "story/run/chapters.h"

namespace fathom {

using K = StoryLineKind;
using Mark = StoryMark;

StoryTopic topic_of(IdleCause cause) {
  switch (cause) {
    case IdleCause::kCommunication:
      return StoryTopic::kHostCommunication;
    case IdleCause::kSynchronization:
      return StoryTopic::kSynchronization;
    case IdleCause::kDataLoading:
      return StoryTopic::kDataLoading;
    case IdleCause::kFirstUse:
      return StoryTopic::kFirstUse;
    case IdleCause::kHostWork:
    case IdleCause::kHostCode:
      return StoryTopic::kHostWork;
    case IdleCause::kHost:
    case IdleCause::kAllocation:
      return StoryTopic::kHost;
    case IdleCause::kQueued:
    case IdleCause::kNoLaunch:
    case IdleCause::kProfiler:
    case IdleCause::kOther:
    case IdleCause::kCount:
      break;
  }
  return StoryTopic::kUnknownCause;
}

namespace {

constexpr double kNotable = 0.05;  // share of idle time that gets a line
constexpr double kSlower = 1.5;    // times the median
constexpr Nanos kLeastExcess{10'000};
constexpr double kCovered = 0.5;  // of the busy time, that the events of a timeline tell
constexpr size_t kNameBytes = 400;

double micros(double nanos) { return nanos / 1e3; }

std::string name_with_most(const EventStore& store, IdleCause cause,
                           const std::map<std::pair<IdleCause, StringId>, Nanos>& times) {
  StringId main;
  Nanos most;
  for (const auto& [name, time] : times) {
    if (name.first != cause || time <= most) continue;
    most = time;
    main = name.second;
  }
  constexpr size_t kNameRead = 1000;
  return cut_to_bytes(shown_frame(store.text(main).substr(0, kNameRead)), kNameBytes);
}

StoryLine idle_line(const RunFacts& facts, const IdleTimes& gaps, Nanos whole) {
  const EventStore& store = facts.input.store;
  const IdleCause cause = gaps.main_cause();
  StoryLine line(
      K::kIdleInPhase, Mark::kDerived, topic_of(cause),
      {name_with_most(store, cause, gaps.blamed), name_with_most(store, cause, gaps.before),
       name_with_most(store, cause, gaps.before_kernel)},
      {{"time", gaps.all.micros(), "µs"},
       {"share", 100 * ratio(gaps.all, whole), "%"},
       {"cause_share", 100 * ratio(gaps.by_cause[static_cast<size_t>(cause)], gaps.all), "%"}});
  if (gaps.example.valid()) line.evidence.events = {store.uid(gaps.example)};
  line.evidence.sheet = "gpu_timeline";
  line.evidence.formula = "gaps over all streams between two events of the same run";
  return line;
}

class PhaseTeller {
 public:
  PhaseTeller(const RunFacts& facts, const WorkLabels& labels, const HardwareIndex& hardware,
              const PhaseProfile& profile, const std::vector<Nanos>& owned)
      : facts_(facts), labels_(labels), hardware_(hardware), p_(profile), owned_(owned) {}

  void tell_runs(Nanos total, std::vector<StoryLine>& out) const {
    StoryLine line(K::kPhaseRuns, Mark::kMeasured, StoryTopic::kNone, {},
                   {{"runs", static_cast<double>(p_.spans.size()), ""},
                    {"median", micros(median()), "µs"},
                    {"share", 100 * ratio(p_.time(), total), "%"},
                    {"kernels", static_cast<double>(p_.kernels), ""}});
    // Of a part of the work, idle time says nothing.
    if (facts_.has_timeline && !facts_.selection.filters_work())
      line.numbers.push_back({"busy", 100 * p_.busy_share(), "%"});
    const size_t steady = p_.steady_spans().size();
    if (steady < p_.spans.size())
      line.numbers.push_back({"steady", static_cast<double>(steady), ""});
    // The median of few runs that differ is none of them.
    const auto [shortest, longest] = std::ranges::minmax(p_.steady_spans());
    if (steady > 1 && steady < 4 && ratio(longest, shortest) > kSlower) {
      line.numbers.push_back({"shortest", shortest.micros(), "µs"});
      line.numbers.push_back({"longest", longest.micros(), "µs"});
    }
    if (steady >= 4) line.numbers.push_back({"p95", micros(percentile_95()), "µs"});
    line.evidence.events = some_events();
    line.evidence.sheet = "gpu_timeline";
    out.push_back(std::move(line));
  }

  void tell_rows(std::vector<StoryLine>& out) const {
    const PhaseKind kind = p_.phase->kind;
    // The products of gradients have rows of other meanings.
    if (!p_.gemm_rows || kind == PhaseKind::kBackward || kind == PhaseKind::kOptimizer ||
        kind == PhaseKind::kSetup)
      return;
    StoryLine line(K::kTokens, Mark::kMeasured, StoryTopic::kNone,
                   {cut_to_bytes(labels_.full_op_name(p_.gemm_event), kNameBytes)},
                   {{"rows", *p_.gemm_rows, ""}, {"n", p_.gemm_n, ""}, {"k", p_.gemm_k, ""}});
    line.evidence.events = {facts_.input.store.uid(p_.gemm_event)};
    line.evidence.sheet = "unified_perf_summary";
    out.push_back(std::move(line));
  }

  void tell_idle(std::vector<StoryLine>& out) const {
    const IdleTimes& gaps = p_.typical_gaps();
    if (ratio(gaps.all, typical_span()) < kNotable) return;
    out.push_back(idle_line(facts_, gaps, typical_span()));
    // The median of an even number of runs is none of them.
    if (p_.spans.size() > 1) out.back().numbers.push_back({"run", typical_span().micros(), "µs"});
  }

  // What deviates from the typical run.
  void tell_deviations(std::vector<StoryLine>& out) const {
    if (p_.spans.size() < 2) return;
    const double middle = median();
    const auto is_slow = [&](Nanos span) {
      return static_cast<double>(span.count) > kSlower * middle &&
             static_cast<double>(span.count) - middle > static_cast<double>(kLeastExcess.count);
    };
    if (p_.first_is_apart) {
      const IdleTimes& gaps = p_.run_gaps[p_.run_of_span.front()];
      StoryLine line = deviation(K::kFirstRun, 0, StoryTopic::kFirstUse);
      line.mark = Mark::kDerived;
      // More GPU work is no warm-up.
      const double more = static_cast<double>((p_.first_busy - p_.typical_busy).count);
      if (2 * more > static_cast<double>(p_.spans.front().count) - middle)
        line.numbers.push_back(
            {"busy_ratio", 1 / std::max(1e-9, ratio(p_.typical_busy, p_.first_busy)), "×"});
      const Nanos loading = gaps.by_cause[static_cast<size_t>(IdleCause::kFirstUse)];
      if (loading.count > 0)
        line.numbers.push_back({"loading", 100 * ratio(loading, p_.spans.front()), "%"});
      out.push_back(std::move(line));
    }
    if (p_.spans.size() < 3) return;
    const auto after_first = p_.spans.begin() + (p_.first_is_apart ? 1 : 0);
    const size_t slowest =
        static_cast<size_t>(std::max_element(after_first, p_.spans.end()) - p_.spans.begin());
    if (slowest > 0 && is_slow(p_.spans[slowest]))
      out.push_back(deviation(K::kSlowestRun, slowest,
                              topic_of(p_.run_gaps[p_.run_of_span[slowest]].main_cause())));
  }

  void tell_overlap(std::vector<StoryLine>& out) const {
    const double all = static_cast<double>(p_.busy.count) + p_.hidden;
    if (all <= 0 || p_.hidden / all < kNotable) return;
    StoryLine line(K::kOverlapped, Mark::kMeasured, StoryTopic::kNone, {},
                   {{"time", micros(p_.hidden), "µs"}, {"share", 100 * p_.hidden / all, "%"}});
    line.evidence.events = some_events();
    line.evidence.formula = "sum of durations − time that counts for the phase";
    out.push_back(std::move(line));
  }

  std::vector<StoryEvent> tell_events(size_t most, std::vector<StoryLine>& lines) const {
    const EventStore& store = facts_.input.store;
    std::vector<WorkBlock> blocks = facts_.has_timeline
                                        ? split_into_blocks(labels_, store, p_.typical_work)
                                        : split_by_kernel(store, p_.typical_work);
    std::vector<std::pair<Nanos, size_t>> by_time = sorted_by_time(blocks);
    // Many small parts of a layer say less than all of a kind together.
    Nanos largest;
    for (size_t i = 0; i < std::min(most, by_time.size()); ++i) largest += by_time[i].first;
    if (ratio(largest, p_.typical_busy) < kCovered) {
      blocks = merged(std::move(blocks));
      by_time = sorted_by_time(blocks);
    }
    std::vector<size_t> shown;
    Nanos rest;
    size_t rest_kernels = 0;
    for (size_t i = 0; i < by_time.size(); ++i) {
      // What takes no hundredth of the time tells nothing; of unknown times all tell the same.
      const bool is_small =
          i > 0 && by_time[0].first.count > 0 && ratio(by_time[i].first, by_time[0].first) < 0.01;
      if (i < most && !is_small) {
        shown.push_back(by_time[i].second);
      } else {
        rest += by_time[i].first;
        rest_kernels += blocks[by_time[i].second].events.size();
      }
    }
    std::ranges::sort(shown);
    std::vector<StoryEvent> out;
    for (const size_t i : shown) out.push_back(event_of(blocks[i]));
    if (rest_kernels > 0) {
      StoryLine line(K::kMoreBlocks, Mark::kMeasured, StoryTopic::kNone, {},
                     {{"count", static_cast<double>(rest_kernels), ""}});
      if (p_.typical_busy.count > 0)
        line.numbers.push_back({"share", 100 * ratio(rest, p_.typical_busy), "%"});
      line.evidence.sheet = "kernel_summary";
      lines.push_back(std::move(line));
    }
    return out;
  }

 private:
  double median() const { return p_.median_span; }

  double percentile_95() const {
    std::vector<Nanos> sorted = p_.steady_spans();
    std::ranges::sort(sorted);
    const size_t rank = (95 * sorted.size() + 99) / 100;
    return static_cast<double>(sorted[std::max<size_t>(rank, 1) - 1].count);
  }

  Nanos typical_span() const { return p_.typical_span(); }

  std::vector<int64_t> some_events() const {
    std::vector<int64_t> uids;
    if (p_.phase->example.valid()) uids.push_back(facts_.input.store.uid(p_.phase->example));
    if (!p_.typical_work.empty()) uids.push_back(facts_.input.store.uid(p_.typical_work.front()));
    return uids;
  }

  std::vector<std::pair<Nanos, size_t>> sorted_by_time(const std::vector<WorkBlock>& blocks) const {
    std::vector<std::pair<Nanos, size_t>> out;
    for (size_t i = 0; i < blocks.size(); ++i) out.emplace_back(time_of(blocks[i]), i);
    std::ranges::sort(out, [](const auto& a, const auto& b) {
      return std::tuple(b.first, a.second) < std::tuple(a.first, b.second);
    });
    return out;
  }

  // Blocks of one kind as one, in the order of time.
  std::vector<WorkBlock> merged(std::vector<WorkBlock> blocks) const {
    std::vector<WorkBlock> out;
    std::map<std::pair<std::string, std::string>, size_t> places;
    for (WorkBlock& block : blocks) {
      const auto [place, is_new] = places.try_emplace({block.label, block.around}, out.size());
      if (is_new) {
        out.push_back(std::move(block));
        continue;
      }
      WorkBlock& into = out[place->second];
      into.repeats = std::max(into.repeats, block.repeats);
      into.events.insert(into.events.end(), block.events.begin(), block.events.end());
    }
    const EventStore& store = facts_.input.store;
    for (WorkBlock& block : out) {
      std::ranges::sort(block.events, [&store](EventId a, EventId b) {
        return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
      });
      list_ops(labels_, store, block);
    }
    return out;
  }

  StoryLine deviation(K kind, size_t place, StoryTopic cause) const {
    StoryLine line(
        kind, Mark::kMeasured, cause, {},
        {{"number", static_cast<double>(p_.run_of_span[place] + 1), ""},
         {"time", p_.spans[place].micros(), "µs"},
         {"ratio", static_cast<double>(p_.spans[place].count) / std::max(1.0, median()), "×"}});
    line.evidence.events = some_events();
    const IdleTimes& gaps = p_.run_gaps[p_.run_of_span[place]];
    if (gaps.example.valid()) line.evidence.events.push_back(facts_.input.store.uid(gaps.example));
    line.evidence.formula = "time from the run's first to its last GPU event ÷ median";
    return line;
  }

  Nanos time_of(const WorkBlock& block) const {
    Nanos time;
    for (const EventId e : block.events) time += owned_[e.index];
    return time;
  }

  StoryEvent event_of(const WorkBlock& block) const {
    const EventStore& store = facts_.input.store;
    // A repeating sequence may begin amid a layer and end in the next: that is one.
    const bool is_one = p_.phase->kind == PhaseKind::kRepeat && block.repeats == 2;
    StoryEvent event;
    const Nanos begin = store.start(p_.typical_work.front());
    event.at = store.start(block.events.front()) - begin;
    const Nanos time = time_of(block);
    event.what = {K::kBlock,
                  Mark::kMeasured,
                  StoryTopic::kNone,
                  {block.label, block.around},
                  {{"time", time.micros(), "µs"},
                   {"share", 100 * ratio(time, p_.typical_busy), "%"},
                   {"kernels", static_cast<double>(block.events.size()), ""},
                   {"repeats", is_one ? 1.0 : static_cast<double>(block.repeats), ""}},
                  {}};
    for (const std::string& op : block.ops) event.what.names.push_back(op);
    if (block.is_mixed) event.what.topic = StoryTopic::kOps;
    event.what.evidence.events = {store.uid(block.events.front()), store.uid(block.events.back())};
    event.what.evidence.sheet = facts_.input.tree.has_ops() ? "ops_summary" : "kernel_summary";
    event.lines = hardware_.block_lines(block.events);
    // How candidates of an autotuner behave says nothing of a step.
    if (p_.phase->kind == PhaseKind::kSetup)
      std::erase_if(event.lines, [](const StoryLine& line) { return line.kind != K::kKernel; });
    add_exposure(block, time, event.lines);
    return event;
  }

  // Of collectives and copies: what nothing hides.
  void add_exposure(const WorkBlock& block, Nanos time, std::vector<StoryLine>& out) const {
    const EventStore& store = facts_.input.store;
    const EventId first = block.events.front();
    const auto is_transfer_event = [&](EventId e) {
      return is_copy_work(store, e) || facts_.input.selection.is_communication(e);
    };
    const bool is_transfer = std::ranges::all_of(block.events, is_transfer_event);
    double all = 0;
    for (const EventId e : block.events)
      all += static_cast<double>(std::max<int64_t>(0, store.duration(e).count));
    if (!is_transfer || all <= 0) return;
    StoryLine line(K::kExposed, Mark::kMeasured,
                   is_copy_work(store, first) ? StoryTopic::kCopies : StoryTopic::kCommunication,
                   {},
                   {{"share", 100 * std::min(1.0, static_cast<double>(time.count) / all), "%"}});
    line.evidence.events = {store.uid(first)};
    line.evidence.formula = "time in which no computation ran ÷ sum of durations";
    out.push_back(std::move(line));
  }

  const RunFacts& facts_;
  const WorkLabels& labels_;
  const HardwareIndex& hardware_;
  const PhaseProfile& p_;
  const std::vector<Nanos>& owned_;
};

}  // namespace

StoryPhase tell_phase(const RunFacts& facts, const WorkLabels& labels,
                      const HardwareIndex& hardware, const PhaseProfile& profile,
                      const std::vector<Nanos>& owned, Nanos total, size_t events) {
  StoryPhase out;
  out.kind = profile.phase->kind;
  out.name = cut_to_bytes(profile.phase->name, kNameBytes);
  out.evidence = profile.phase->evidence;
  out.runs = profile.spans.size();
  for (const PhaseRun& run : profile.phase->runs)
    if (!run.work.empty()) out.spans.push_back({run.gpu_begin, run.gpu_end});
  out.busy = profile.busy;
  out.idle = profile.idle;
  const PhaseTeller teller(facts, labels, hardware, profile, owned);
  teller.tell_runs(total, out.lines);
  if (facts.has_timeline) {
    teller.tell_rows(out.lines);
    teller.tell_idle(out.lines);
    teller.tell_deviations(out.lines);
    teller.tell_overlap(out.lines);
    if (auto line = hardware.throttled_line(profile.work)) out.lines.push_back(std::move(*line));
  }
  out.events = teller.tell_events(events, out.lines);
  return out;
}

}  // namespace fathom
