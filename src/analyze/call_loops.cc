#include "analyze/call_loops.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/place.h"

namespace fathom {
namespace {

constexpr size_t kManyRounds = 4, kFewRounds = 2;
constexpr double kMuchOfTime = 0.4, kMostOfTime = 0.6;

// Calls of one function by one call of another, within a step.
class LoopFinder {
 public:
  explicit LoopFinder(const Assessment& a) : a_(a), store_(a.input().store) {}

  // The stacks around a frame, outwards.
  void add(EventId frame, Nanos time) {
    constexpr int kDepth = 24;
    EventId child = frame;
    for (int i = 0; i < kDepth && child.valid(); ++i) {
      const Link& link = link_of(child);
      if (link.loop != kNone) loops_[link.loop].time += time;
      child = link.caller;
    }
  }

  std::optional<CallLoop> best(Nanos all) const {
    struct Merged {
      CallLoop loop;
      size_t rounds = 0;
    };
    std::map<std::pair<StringId, StringId>, Merged> merged;  // of all steps, by both names
    for (const Loop& loop : loops_) {
      if (loop.calls < kFewRounds) continue;
      Merged& m = merged[{store_.name_id(loop.caller), store_.name_id(loop.function)}];
      m.loop.caller = loop.caller;
      m.loop.function = loop.function;
      m.loop.time += loop.time;
      m.loop.calls += loop.calls;
      ++m.rounds;
    }
    const bool has_steps = a_.base().kind < TimeBaseKind::kRecording;
    std::optional<CallLoop> best;
    for (auto& [names, m] : merged) {
      m.loop.calls = (m.loop.calls + m.rounds - 1) / m.rounds;
      const double share = ratio(m.loop.time, all);
      const bool many = m.loop.calls >= kManyRounds && share >= kMuchOfTime;
      if (!many && !(has_steps && share >= kMostOfTime)) continue;
      // Of loops around each other the one with the most rounds.
      constexpr double kAsMuch = 0.9;
      const bool better =
          !best || (ratio(m.loop.time, best->time) >= kAsMuch && m.loop.calls > best->calls) ||
          ratio(best->time, m.loop.time) < kAsMuch;
      if (better) best = m.loop;
    }
    return best;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Loop {
    EventId caller, function;
    Nanos time;
    size_t calls = 0;
  };
  struct Link {
    EventId caller;  // the user's frame around it
    uint32_t loop = kNone;
  };

  StringId name(EventId e) const { return e.valid() ? store_.name_id(e) : StringId{}; }

  size_t step_of(Nanos when) const {
    const std::vector<BaseStep>& steps = a_.base().steps;
    return static_cast<size_t>(std::ranges::upper_bound(steps, when, {}, &BaseStep::begin) -
                               steps.begin());
  }

  // Each frame is looked at once.
  const Link& link_of(EventId child) {
    const auto [known, is_new] = links_.try_emplace(child);
    if (!is_new) return known->second;
    Link& link = known->second;
    const EventId above = a_.input().tree.parent_frame(child);
    link.caller = above.valid() ? a_.places().of(above).frame : EventId{};
    if (!link.caller.valid() || name(link.caller) == name(child)) return link;
    const StringId module = name(a_.places().of(child).module);
    const auto [loop, added] =
        ids_.try_emplace({link.caller, name(child), module, step_of(store_.start(child))},
                         static_cast<uint32_t>(loops_.size()));
    if (added) loops_.push_back({link.caller, child, {}, 0});
    link.loop = loop->second;
    ++loops_[link.loop].calls;
    return link;
  }

  const Assessment& a_;
  const EventStore& store_;
  std::unordered_map<EventId, Link> links_;
  std::map<std::tuple<EventId, StringId, StringId, size_t>, uint32_t> ids_;
  std::vector<Loop> loops_;
};

}  // namespace

std::optional<CallLoop> find_call_loop(const Assessment& a, std::span<const CoveredEvent> events) {
  if (!a.places().has_frames()) return {};
  std::unordered_map<EventId, Nanos> frames;
  std::vector<EventId> order;
  Nanos all;
  for (const CoveredEvent& event : events) {
    all += event.time;
    const EventId frame = a.places().of(event.event).frame;
    if (!frame.valid()) continue;
    const auto [slot, is_new] = frames.try_emplace(frame);
    if (is_new) order.push_back(frame);
    slot->second += event.time;
  }
  LoopFinder finder(a);
  for (const EventId frame : order) finder.add(frame, frames[frame]);
  return finder.best(all);
}

}  // namespace fathom
