// Findings about idle GPU time: one for each cause, with its places.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "analyze/advice.h"
#include "analyze/analyses.h"
#include "analyze/blocking_launches.h"
#include "analyze/call_loops.h"
#include "analyze/finding_parts.h"
#include "analyze/host_functions.h"
#include "analyze/host_threads.h"
#include "analyze/place.h"
#include "analyze/priority.h"
#include "analyze/sync_kind.h"
#include "analyze/tools_left_on.h"
#include "base/count_text.h"

namespace fathom::analyses {
namespace {

constexpr double kIdleNoticed = 0.05;  // of the wall time
constexpr double kLineNoticed = 0.02;  // for causes that a line of code answers for

struct CauseText {
  IdleCause cause;
  FindingKind kind;
  // Of a title: with the place {}, and without.
  std::string_view at_place, anywhere;
  std::string_view issue;
  Confidence confidence;
  double noticed;
};

constexpr CauseText kCauseTexts[] = {
    {IdleCause::kSynchronization, FindingKind::kSynchronization, "{} waits for the GPU",
     "synchronization stalls the launches",
     "the host waited until the GPU was dry, then the GPU waited for the next launches",
     Confidence::kHigh, kLineNoticed},
    {IdleCause::kHost, FindingKind::kHostBound, "kernels are launched too late, most at {}",
     "kernels are launched too late",
     "the next kernel is launched only after the previous one has ended, and ops and launch calls "
     "fill the time",
     Confidence::kHigh, kIdleNoticed},
    {IdleCause::kHostCode, FindingKind::kHostWork, "{} runs on the host while the GPU is idle",
     "host code runs while the GPU is idle",
     "the host runs for over a millisecond without launching anything", Confidence::kHigh,
     kLineNoticed},
    {IdleCause::kHostWork, FindingKind::kHostWork, "host code outside recorded calls before {}",
     "host code outside recorded calls",
     "for over a millisecond no event is recorded on the threads that launch", Confidence::kMedium,
     kIdleNoticed},
    {IdleCause::kCommunication, FindingKind::kExposedCommunication,
     "communication on the host at {}", "communication on the host",
     "a collective runs on the host while the GPU is idle", Confidence::kHigh, kIdleNoticed},
    {IdleCause::kDataLoading, FindingKind::kDataLoading, "input-bound, the GPU waits for {}",
     "input-bound, the host prepares input",
     "input is loaded or prepared on the host while the GPU is idle", Confidence::kHigh,
     kLineNoticed},
    {IdleCause::kAllocation, FindingKind::kAllocation, "{} allocates memory",
     "memory is allocated between kernels",
     "the host allocates or frees GPU memory while the GPU is idle; in steady state the caching "
     "allocator serves all requests",
     Confidence::kHigh, kLineNoticed},
    {IdleCause::kFirstUse, FindingKind::kFirstUse, "code is loaded or compiled on first use at {}",
     "code is loaded or compiled on first use",
     "modules are loaded, compiled, tuned or captured on first use. This is warm-up, no part of "
     "the steady state",
     Confidence::kMedium, kIdleNoticed},
    {IdleCause::kQueued, FindingKind::kQueuedWork, "queued work does not start, most at {}",
     "queued work does not start",
     "the work was launched before the gap: it waits for an event of another stream, a collective "
     "or another process",
     Confidence::kMedium, kIdleNoticed},
};

// Whether nearly all of it is in one of several steps: a mean over them would be true of none.
bool is_in_one_step(const Assessment& a, IdleCause cause) {
  constexpr size_t kFewSteps = 3;
  constexpr double kNearlyAll = 0.9;
  Nanos all, most;
  for (const DeviceIdle& device : a.idle().devices) {
    if (!device.is_explained || device.by_step.size() < kFewSteps) continue;
    for (const auto& step : device.by_step) {
      all += step[static_cast<size_t>(cause)];
      most = std::max(most, step[static_cast<size_t>(cause)]);
    }
    return ratio(most, all) >= kNearlyAll;
  }
  return false;
}

// "8.30 ms a step", or of a recording without steps "8.30 ms".
std::string amount_text(const Assessment& a, IdleCause cause, Nanos time) {
  const TimeBase& base = a.base();
  if (base.kind >= TimeBaseKind::kRecording)
    return fmt::format("GPU idle {} ({})", percent_text(ratio(time, a.length())),
                       micros_text(time));
  const auto steps = static_cast<int64_t>(base.steps.size());
  if (is_in_one_step(a, cause))
    return fmt::format("{} in one of {} steps", micros_text(time), steps);
  return micros_text({time.count / steps}) + " a step";
}

std::vector<CoveredEvent> covered_by(const Assessment& a, IdleCause cause) {
  std::vector<CoveredEvent> covered;
  for (const IdleBlame& blame : a.idle().blamed[static_cast<size_t>(cause)])
    covered.push_back({blame.event, blame.time});
  return covered;
}

Nanos sum_of(const std::vector<CoveredEvent>& covered) {
  Nanos sum;
  for (const CoveredEvent& event : covered) sum += event.time;
  return sum;
}

// What most of the time is put down to: how the program asked for a wait, or the call's name.
SyncKind main_call(const Assessment& a, IdleCause cause, const std::vector<CoveredEvent>& covered) {
  const EventStore& store = a.input().store;
  struct Known {
    Nanos time;
    std::string_view trait;
  };
  std::map<std::string_view, Known> times;
  std::map<StringId, Nanos> by_name;
  if (cause == IdleCause::kSynchronization) {
    for (const CoveredEvent& event : covered) {
      const SyncKind kind = sync_kind(a.input(), event.event);
      Known& known = times[kind.text];
      known.time += event.time;
      known.trait = kind.trait;
    }
  } else if (cause == IdleCause::kAllocation) {
    for (const CoveredEvent& event : covered) by_name[store.name_id(event.event)] += event.time;
    for (const auto& [name, time] : by_name) times[store.text(name)].time += time;
  }
  SyncKind main;
  Nanos most;
  for (const auto& [name, known] : times) {
    if (known.time <= most) continue;
    most = known.time;
    main = {name, known.trait};
  }
  return main;
}

// A place that answers for much of the time; where the time is spread out, none is in the title.
bool is_main_place(const Finding& f) {
  constexpr double kMuch = 0.3;
  return !f.places.empty() && f.places.front().share * (1 - f.unplaced) >= kMuch &&
         !short_place_text(f.places.front()).empty();
}

// What is loaded, compiled or tuned in each of several steps is no warm-up.
bool is_in_each_step(const Assessment& a, IdleCause cause) {
  constexpr double kAlike = 0.5;  // of the longest
  for (const DeviceIdle& device : a.idle().devices) {
    if (!device.is_explained || device.by_step.size() < 2) continue;
    Nanos longest, shortest{INT64_MAX};
    for (const auto& step : device.by_step) {
      longest = std::max(longest, step[static_cast<size_t>(cause)]);
      shortest = std::min(shortest, step[static_cast<size_t>(cause)]);
    }
    return ratio(shortest, longest) >= kAlike;
  }
  return false;
}

// GPU work that goes with the calls: the trials of a search.
Nanos work_of(const Assessment& a, const std::vector<CoveredEvent>& covered) {
  const CallTree& tree = a.input().tree;
  std::unordered_set<EventId> known;
  Nanos sum;
  for (const CoveredEvent& event : covered) {
    const CallId call = event.event.valid() ? tree.call(event.event) : CallId{};
    const CallId op = call.valid() ? tree.enclosing_op(call) : CallId{};
    if (!op.valid() || !known.insert(tree.event(op)).second) continue;
    for (const EventId work : tree.launched_in_subtree(op)) {
      if (known.insert(work).second) sum += a.input().store.duration(work);
    }
  }
  return sum;
}

constexpr CauseText kTunedAgain = {IdleCause::kFirstUse,
                                   FindingKind::kFirstUse,
                                   "code is compiled, tuned or captured again at {}",
                                   "code is compiled, tuned or captured again",
                                   "each step compiles code, searches for the best kernel or "
                                   "captures a graph again, as sizes or numbers differ from the "
                                   "steps before",
                                   Confidence::kMedium,
                                   kIdleNoticed};

void write_title(const Assessment& a, const CauseText& text, std::string_view call, Finding& f) {
  const std::string amount =
      text.cause == IdleCause::kFirstUse && &text != &kTunedAgain
          ? fmt::format("Warm-up, {} of the wall time", percent_text(ratio(f.time, a.length())))
          : amount_text(a, text.cause, f.time);
  f.subject = "idle GPU time";
  std::string what(text.anywhere);
  if (is_main_place(f)) {
    f.subject = short_place_text(f.places.front());
    const size_t at = text.at_place.find("{}");
    what =
        fmt::format("{}{}{}", text.at_place.substr(0, at), f.subject, text.at_place.substr(at + 2));
  }
  f.title = fmt::format("{}: {}", amount, what);
  if (!call.empty()) f.title += fmt::format(" ({})", call);
}

// Late launches of a small function are its loop's doing.
void add_loop(const Assessment& a, Finding& f) {
  const std::optional<CallLoop> loop = find_call_loop(a, f.covered);
  if (!loop) return;
  PlaceFinder& finder = a.places();
  Place caller = finder.describe(finder.of(loop->caller));
  caller.op.clear();
  caller.time = loop->time;
  caller.share = ratio(loop->time, sum_of(f.covered));
  const std::string inner = short_place_text(finder.describe(finder.of(loop->function)));
  f.notes.push_back({"", short_place_text(caller),
                     fmt::format(" calls {} {} times in a row: one call for all of them launches "
                                 "as many kernels as one of these.",
                                 inner, loop->calls)});
  constexpr size_t kPlaces = 3;
  if (std::ranges::any_of(f.places, [&](const Place& p) {
        return p.file == caller.file && p.function == caller.function;
      }))
    return;
  f.places.insert(f.places.begin() + std::min<std::ptrdiff_t>(1, std::ssize(f.places)), caller);
  if (f.places.size() > kPlaces) f.places.pop_back();
}

// Threads with Python frames beside the one that launches; a few.
std::vector<TrackId> other_python_threads(const EventStore& store, TrackId main) {
  constexpr size_t kMostThreads = 8;
  std::vector<TrackId> tracks;
  for (size_t i = 0; i < store.size() && tracks.size() < kMostThreads; ++i) {
    const EventId e(i);
    if (store.kind(e) != EventKind::kPython || store.track_id(e) == main) continue;
    if (std::ranges::find(tracks, store.track_id(e)) == tracks.end())
      tracks.push_back(store.track_id(e));
  }
  return tracks;
}

// Python lets one thread run at a time. One that runs the program's own code while the GPU is idle,
// and waits for nothing, takes that time from the thread that launches.
void add_contending_thread(const Assessment& a, IdleCause cause, Finding& f) {
  constexpr double kMost = 0.6;  // of the idle time
  const EventStore& store = a.input().store;
  PlaceFinder& finder = a.places();
  const auto explained = std::ranges::find(a.idle().devices, true, &DeviceIdle::is_explained);
  if (!finder.has_frames() || f.covered.empty() || explained == a.idle().devices.end()) return;
  const auto longest = std::ranges::max_element(f.covered, {}, &CoveredEvent::time);
  const std::vector<TrackId> others = other_python_threads(store, store.track_id(longest->event));
  if (others.empty()) return;
  HostThreads threads(store, a.input().tree);
  for (const TrackId track : others) {
    HostThread* thread = threads.find(track);
    if (thread == nullptr || thread->launches > 0) continue;
    Nanos all, busy;
    EventId frame;
    for (const IdleStretch& stretch : explained->stretches) {
      if (stretch.cause != cause) continue;
      all += stretch.when.end - stretch.when.begin;
      thread->frames.read(stretch.when, [&](const HostStretch& s) {
        // The innermost frame is the program's own: no wait for a lock or a queue.
        if (!s.event.valid() || finder.of(s.event).frame != s.event) return;
        busy += s.when.end - s.when.begin;
        frame = s.event;
      });
    }
    if (ratio(busy, all) < kMost) continue;
    Place place = finder.describe(finder.of(frame));
    place.time = busy;
    place.share = ratio(busy, all);
    const std::string text = short_place_text(place);
    f.title = fmt::format("{}: {} on another thread holds Python's lock",
                          amount_text(a, cause, f.time), text);
    f.notes.push_back({"", text,
                       fmt::format(" runs on another thread for {} of this time. Python runs one "
                                   "thread at a time: move that code to another process, or into "
                                   "calls that release the lock.",
                                   percent_text(place.share))});
    f.subject = text;
    f.places.insert(f.places.begin(), std::move(place));
    return;
  }
}

// Late launches are the tool's where it is around most ops.
bool add_tool(const Assessment& a, IdleCause cause, Finding& f) {
  std::optional<ToolLeftOn> tool = find_tool_left_on(a, f.covered);
  if (!tool) return false;
  f.title = fmt::format("{}: a tool runs Python code around each op ({})",
                        amount_text(a, cause, f.time), tool->file);
  f.notes.push_back(
      {"", std::string(tool->file),
       fmt::format(" is around {} of the ops that launch GPU work, and {} of this idle time.",
                   percent_text(tool->share), percent_text(tool->of_time))});
  f.subject = tool->file;
  if (!tool->enter.file.empty()) f.places.insert(f.places.begin(), std::move(tool->enter));
  return true;
}

// Late launches of single ops that launch many kernels each, such as a recurrent layer of the
// vendor's library: the program has no launch to save.
bool is_in_single_ops(const Assessment& a, const std::vector<CoveredEvent>& covered) {
  constexpr size_t kManyKernels = 32;
  constexpr double kNearlyAll = 0.7;
  const CallTree& tree = a.input().tree;
  Nanos own;
  for (const CoveredEvent& event : covered) {
    const CallId call = event.event.valid() ? tree.call(event.event) : CallId{};
    const CallId op = call.valid() ? tree.enclosing_op(call) : CallId{};
    if (op.valid() && tree.launched_in_subtree(op).size() >= kManyKernels) own += event.time;
  }
  return ratio(own, sum_of(covered)) >= kNearlyAll;
}

// What must go before a step can be captured as a graph comes before the advice to do so.
void name_obstacle(const Assessment& a, Finding& f) {
  constexpr double kNoticedWaits = 0.01;  // of the wall time
  if (ratio(a.idle().time(IdleCause::kSynchronization), a.length()) < kNoticedWaits) return;
  const SyncKind wait =
      main_call(a, IdleCause::kSynchronization, covered_by(a, IdleCause::kSynchronization));
  if (!forbids_capture(wait)) return;
  f.change_code = fmt::format(
      "First remove what waits for the GPU inside the step ({}): a step that waits cannot be "
      "captured as a graph. Then: {}",
      wait.text, f.change_code);
}

// A function that launches nothing may be what host code in long gaps is, or what makes launches
// late.
void name_host_functions(const Assessment& a, std::vector<Finding>& findings) {
  constexpr double kMostOfIt = 0.6;
  for (HostFunction& function : find_host_functions(a)) {
    const auto usual = std::ranges::find_if(findings, [&function](const Finding& f) {
      return f.kind == FindingKind::kHostWork && !f.is_quiet_function &&
             f.subject == function.finding.subject;
    });
    if (usual != findings.end() && ratio(usual->time, function.finding.time) >= kMostOfIt) {
      tell_known(function, *usual);
      continue;
    }
    if (usual != findings.end()) findings.erase(usual);
    tell_known(function, function.finding);
    findings.push_back(std::move(function.finding));
  }
}

}  // namespace

std::vector<Finding> idle_time(const Assessment& a) {
  std::vector<Finding> findings;
  const IdleTime& idle = a.idle();
  if (a.length().count <= 0 || idle.explained == 0) return findings;
  PlaceFinder& finder = a.places();
  for (const CauseText& usual : kCauseTexts) {
    const bool again =
        usual.cause == IdleCause::kFirstUse && is_in_each_step(a, IdleCause::kFirstUse);
    const CauseText& text = again ? kTunedAgain : usual;
    Finding f;
    f.kind = text.kind;
    f.time = idle.time(text.cause);
    if (ratio(f.time, a.length()) < text.noticed) continue;
    f.covered = covered_by(a, text.cause);
    if (text.cause == IdleCause::kQueued) {
      f.time = {sum_of(f.covered).count / static_cast<int64_t>(idle.explained)};
      if (ratio(f.time, a.length()) < text.noticed) continue;
    }
    find_places(finder, f);
    const SyncKind call = main_call(a, text.cause, f.covered);
    write_title(a, text, call.text, f);
    if (text.cause == IdleCause::kHost) add_loop(a, f);
    if (text.cause == IdleCause::kHost || text.cause == IdleCause::kHostCode)
      add_contending_thread(a, text.cause, f);
    const bool by_tool = text.cause == IdleCause::kHost && add_tool(a, text.cause, f);
    const size_t gaps = idle.gaps[static_cast<size_t>(text.cause)];  // 0: a smaller part of each
    f.issue = fmt::format("{} of {} idle{}: {}.", micros_text(f.time),
                          micros_text(a.base().mean_device().idle),
                          gaps == 0 ? "" : ", in " + counted(gaps, "gap"), text.issue);
    Traits traits = text.cause == IdleCause::kCommunication ? Traits{"on_host"} : traits_of(a);
    if (again) traits.add("each_step");
    if (by_tool) traits.add("tool");
    if (!call.trait.empty()) traits.add(call.trait);
    advise(a, f, traits);
    if (text.cause == IdleCause::kHost && !by_tool && !traits.has("graphs_used"))
      name_obstacle(a, f);
    f.confidence = text.confidence;
    f.share = ratio(f.time, a.length());
    f.saving_at_most = f.time;
    if (again) {
      f.saving_at_least = {f.time.count / 2};
      f.saving_at_most = std::min(a.length(), f.time + work_of(a, f.covered));
    }
    f.projections = {{"none of this time left (upper bound)", {}, f.share}};
    f.in_single_ops = text.cause == IdleCause::kHost && is_in_single_ops(a, f.covered);
    rate_part_of_whole(f);
    // Of a run that goes on, warm-up is a small part.
    if (f.kind == FindingKind::kFirstUse && !again && f.priority < Priority::kMedium) {
      f.priority = Priority::kMedium;
      f.priority_reason = "warm-up";
    }
    if (text.cause == IdleCause::kHost && idle.waits > 0) {
      f.notes.push_back({fmt::format("{} with the GPU. Remove those inside a step before "
                                     "capturing it as a graph.",
                                     counted(idle.waits, "call synchronizes", "calls synchronize")),
                         {},
                         {}});
    }
    if (!f.covered.empty()) {
      const auto longest = std::ranges::max_element(f.covered, {}, &CoveredEvent::time);
      f.call_stack = call_stack_of(a.input(), longest->event);
    }
    findings.push_back(std::move(f));
  }
  name_host_functions(a, findings);
  if (auto blocking = find_blocking_launches(a)) {
    std::erase_if(findings, [](const Finding& f) { return f.kind == FindingKind::kHostBound; });
    findings.push_back(std::move(*blocking));
  }
  return findings;
}

}  // namespace fathom::analyses
