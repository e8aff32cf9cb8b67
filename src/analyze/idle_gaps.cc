#include "analyze/idle_gaps.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "tree/setup_spans.h"

namespace fathom {
namespace {

bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Spans of the host held against gaps of the GPU, which are disjoint and come in the order of time:
// each span is looked at a few times, however long it is and however many there are.
class HostSpans {
 public:
  struct Span {
    Nanos begin, end;
    StringId name;
  };

  void add(const Span& span) { spans_.push_back(span); }
  size_t size() const { return spans_.size(); }

  // To be called once, before the gaps.
  void order() {
    std::ranges::sort(spans_, [](const Span& x, const Span& y) {
      return std::tie(x.begin, x.end) < std::tie(y.begin, y.end);
    });
    by_end_.resize(spans_.size());
    std::iota(by_end_.begin(), by_end_.end(), size_t{0});
    std::ranges::sort(by_end_, [this](size_t x, size_t y) {
      return std::tie(spans_[x].end, x) < std::tie(spans_[y].end, y);
    });
  }

  // The last span that began before the gap's end and covers most of the gap.
  const Span* covering(const Interval& gap) {
    const Nanos half{(gap.end - gap.begin).count / 2};
    const Span* found = nullptr;
    // Those begun before the gap. What ends no later than one begun after it never comes first.
    for (; next_ < spans_.size() && spans_[next_].begin <= gap.begin; ++next_) {
      while (!begun_.empty() && spans_[begun_.back()].end <= spans_[next_].end) begun_.pop_back();
      begun_.push_back(next_);
    }
    while (!begun_.empty() && spans_[begun_.back()].end <= gap.begin + half) begun_.pop_back();
    if (!begun_.empty()) found = &spans_[begun_.back()];
    // Those begun in it, which no other gap has; they are added above when the next gap comes.
    for (size_t i = next_; i < spans_.size() && spans_[i].begin < gap.end; ++i) {
      if (std::min(spans_[i].end, gap.end) - spans_[i].begin > half) found = &spans_[i];
    }
    return found;
  }

  // The last span begun before the gap that ends in it.
  const Span* ending_in(const Interval& gap) {
    while (next_end_ < by_end_.size() && spans_[by_end_[next_end_]].end < gap.begin) ++next_end_;
    std::optional<size_t> last;
    for (size_t i = next_end_; i < by_end_.size() && spans_[by_end_[i]].end <= gap.end; ++i) {
      if (spans_[by_end_[i]].begin < gap.begin) last = std::max(last, std::optional(by_end_[i]));
    }
    return last ? &spans_[*last] : nullptr;
  }

 private:
  std::vector<Span> spans_;     // by begin
  std::vector<size_t> by_end_;  // places in spans_
  std::vector<size_t> begun_;   // places in spans_, each ending before the one below it
  size_t next_ = 0, next_end_ = 0;
};

class GapFinder {
 public:
  explicit GapFinder(const SheetInput& input) : input_(input), store_(input.store) {
    list_host_spans();
  }

  IdleGaps find(std::vector<EventId> work) {
    std::ranges::sort(work, [this](EventId x, EventId y) {
      return std::tuple(store_.start(x), x) < std::tuple(store_.start(y), y);
    });
    IdleGaps found;
    found.waits = waits_.size();
    Nanos busy_until{INT64_MIN};
    EventId last;
    for (const EventId e : work) {
      const Nanos begin = store_.start(e);
      if (last.valid() && begin > busy_until)
        found.gaps.push_back(explained({{busy_until, begin}, last, e, IdleCause::kOther, {}}));
      if (!last.valid() || store_.end(e) > busy_until) {
        busy_until = store_.end(e);
        last = e;
      }
    }
    return found;
  }

 private:
  static bool is_wait(std::string_view name) {
    return has_part(name, "Synchronize") || (has_part(name, "Memcpy") && !has_part(name, "Async"));
  }
  static bool is_loading(std::string_view name) {
    return has_part(name, "DataLoader") || has_part(name, "dataloader");
  }
  static bool is_communication(std::string_view name) {
    return name.starts_with("gloo:") || name.starts_with("nccl:") || name.starts_with("c10d::") ||
           name.starts_with("MPI_");
  }
  static bool is_first_use(std::string_view name) {
    return has_part(name, "odule loading") || has_part(name, "odule Loading") ||  // overhead
           has_part(name, "unction loading") || has_part(name, "unction Loading") ||
           has_part(name, "ModuleLoad") || has_part(name, "LibraryLoad") ||
           has_part(name, "ModuleGetFunction") || has_part(name, "Inductor");
  }
  // Of a name, asked once: of the many that a trace has, few are compilers.
  bool is_setup(EventId e) {
    const auto [known, is_new] = setup_names_.try_emplace(store_.name_id(e).index);
    if (is_new) known->second = setup_kind(store_.name(e)).has_value();
    return known->second;
  }

  void list_host_spans() {
    for (size_t i = 0; i < store_.size(); ++i) {
      const EventId e(i);
      const EventKind kind = store_.kind(e);
      // A profiler's notes of overhead are of no kind.
      if (!is_host_call(kind) && kind != EventKind::kAnnotation && kind != EventKind::kOther)
        continue;
      const std::string_view name = store_.name(e);
      const HostSpans::Span span{store_.start(e), store_.end(e), store_.name_id(e)};
      if (kind == EventKind::kOther) {
        if (is_first_use(name)) first_use_.add(span);
        continue;
      }
      if (is_host_call(kind)) calls_.push_back({span.begin, span.end});
      if (kind == EventKind::kCpuOp) note_op(e);
      if (is_launch(kind) && is_wait(name)) waits_.add(span);
      if (is_loading(name)) loading_.add(span);
      if (is_communication(name)) communication_.add(span);
      if (is_first_use(name) || is_setup(e)) first_use_.add(span);
    }
    calls_ = merge_intervals(std::move(calls_));
    for (HostSpans* spans : {&waits_, &loading_, &communication_, &first_use_}) spans->order();
  }

  void note_op(EventId op) {
    const auto [known, is_new] = ops_.try_emplace(store_.name_id(op).index, OpRuns{op, {}});
    OpRuns& runs = known->second;
    if (store_.start(op) < store_.start(runs.first)) runs.first = op;
    if (is_new || store_.duration(op) < runs.shortest) runs.shortest = store_.duration(op);
  }

  static Nanos overlap(const Interval& gap, Nanos begin, Nanos end) {
    const Nanos both = std::min(gap.end, end) - std::max(gap.begin, begin);
    return std::max(both, Nanos{});
  }

  // A call that fills a long gap: a launch that takes milliseconds loads code; an op's first call
  // that takes ten times as long as a later one sets something up.
  StringId first_call_in(const Interval& gap, CallId launch) const {
    const Nanos length = gap.end - gap.begin;
    if (length.count < kLongGap || !launch.valid() || !input_.tree.has_launches()) return {};
    const auto fills = [&](EventId e) {
      return overlap(gap, store_.start(e), store_.end(e)).count > length.count / 2;
    };
    const EventId call = input_.tree.event(launch);
    if (is_launch(store_.kind(call)) && fills(call)) return store_.name_id(call);
    for (CallId op = input_.tree.enclosing_op(launch); op.valid();
         op = input_.tree.enclosing_op(input_.tree.parent(op))) {
      const EventId e = input_.tree.event(op);
      const auto known = ops_.find(store_.name_id(e).index);
      if (known == ops_.end() || known->second.first != e || !fills(e)) continue;
      if (known->second.shortest.count * 10 < store_.duration(e).count) return store_.name_id(e);
    }
    return {};
  }

  // Whether calls cover less than half of a long gap. To be called in the order of gaps.
  bool is_unrecorded(const Interval& gap) {
    const Nanos length = gap.end - gap.begin;
    if (length.count < kLongGap) return false;
    while (next_call_ < calls_.size() && calls_[next_call_].end <= gap.begin) ++next_call_;
    Nanos covered;
    for (size_t i = next_call_; i < calls_.size() && calls_[i].begin < gap.end; ++i)
      covered += overlap(gap, calls_[i].begin, calls_[i].end);
    return 2 * covered.count < length.count;
  }

  // The launch after a wait comes late because of the wait only as long as little else is between.
  static bool explains(const HostSpans::Span& wait, const Interval& gap) {
    const Nanos after = gap.end - wait.end;
    return after.count < kLongGap || 2 * overlap(gap, wait.begin, wait.end).count > after.count;
  }

  IdleGap explained(IdleGap gap) {
    const CallId launch = input_.tree.launch(gap.after);
    // Each is asked for every gap: they go through their spans in its order.
    const HostSpans::Span *first_use = first_use_.covering(gap.gap),
                          *loading = loading_.covering(gap.gap),
                          *communication = communication_.covering(gap.gap),
                          *wait = waits_.ending_in(gap.gap), *blamed = nullptr;
    if ((blamed = first_use) != nullptr) {
      gap.cause = IdleCause::kFirstUse;
    } else if ((blamed = loading) != nullptr) {
      gap.cause = IdleCause::kDataLoading;
    } else if ((blamed = communication) != nullptr) {
      gap.cause = IdleCause::kCommunication;
    } else if (const StringId name = first_call_in(gap.gap, launch); name.valid()) {
      gap.cause = IdleCause::kFirstUse;
      gap.blamed = name;
    } else if (wait != nullptr && explains(*wait, gap.gap)) {
      gap.cause = IdleCause::kSynchronization;
      blamed = wait;
    } else if (launch.valid() && input_.tree.has_launches() &&
               store_.end(input_.tree.event(launch)) > gap.gap.begin) {
      gap.cause = is_unrecorded(gap.gap) ? IdleCause::kHostWork : IdleCause::kHost;
    }
    if (blamed != nullptr) gap.blamed = blamed->name;
    return gap;
  }

  static constexpr int64_t kLongGap = 2'000'000;  // ns: over a hundred launches
  struct OpRuns {
    EventId first;
    Nanos shortest;
  };

  const SheetInput& input_;
  const EventStore& store_;
  std::unordered_map<uint32_t, OpRuns> ops_;        // by name
  std::unordered_map<uint32_t, bool> setup_names_;  // likewise
  std::vector<Interval> calls_;                     // of the host, merged
  size_t next_call_ = 0;
  // The end of a wait is that of the GPU's work: the next launch comes only after it.
  HostSpans waits_, loading_, communication_, first_use_;
};

}  // namespace

std::string_view idle_cause_name(IdleCause cause) {
  switch (cause) {
    case IdleCause::kCommunication:
      return "communication";
    case IdleCause::kSynchronization:
      return "synchronization";
    case IdleCause::kDataLoading:
      return "data_loading";
    case IdleCause::kFirstUse:
      return "first_use";
    case IdleCause::kHost:
      return "host";
    case IdleCause::kHostWork:
      return "host_work";
    case IdleCause::kOther:
    case IdleCause::kCount:
      break;
  }
  return "unknown";
}

IdleGaps find_idle_gaps(const SheetInput& input, std::vector<EventId> work) {
  return GapFinder(input).find(std::move(work));
}

}  // namespace fathom
