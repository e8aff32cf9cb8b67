#include "analyze/host_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/advice.h"
#include "analyze/finding_parts.h"
#include "analyze/place.h"
#include "analyze/priority.h"
#include "analyze/traits.h"
#include "base/count_text.h"
#include "base/glob.h"
#include "base/tsv.h"

extern const std::string_view expensive_calls_tsv;

namespace fathom {
namespace {

constexpr double kWorthTelling = 0.08;  // of the wall time
constexpr Nanos kShortest{20'000};  // a call's mean: below that it is Python's own cost of a call
constexpr size_t kMostTold = 2;

// What is known of a function by its name.
struct KnownCall {
  std::string_view file, function, what, instead;
};

const std::vector<KnownCall>& known_calls() {
  static const std::vector<KnownCall> all = [] {
    std::vector<KnownCall> list;
    for (const auto& r : read_tsv(expensive_calls_tsv, 4)) list.push_back({r[0], r[1], r[2], r[3]});
    return list;
  }();
  return all;
}

// "<built-in method acquire of _thread.lock object at 0x…>", "<built-in function sleep>"
std::string_view built_in_name(std::string_view name) {
  for (const std::string_view prefix : {"<built-in function ", "<built-in method "}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    return name.substr(0, name.find_first_of(" >"));
  }
  return {};
}

const KnownCall* find_known(std::string_view name) {
  const auto frame = read_frame_name(name);
  const std::string_view built_in = frame ? std::string_view{} : built_in_name(name);
  if (!frame && built_in.empty()) return nullptr;
  for (const KnownCall& known : known_calls()) {
    if ((known.file == "*") == frame.has_value()) continue;
    if (!glob_matches(known.function, frame ? frame->function : built_in)) continue;
    if (!frame || frame->file == known.file || glob_matches(known.file, frame->file) ||
        glob_matches(fmt::format("*/{}", known.file), frame->file))
      return &known;
  }
  return nullptr;
}

bool is_profilers(std::string_view name) {
  const auto frame = read_frame_name(name);
  return frame && frame->file.find("torch/profiler/") != std::string_view::npos;
}

// What is looked up once for each name.
struct NameFacts {
  const KnownCall* known = nullptr;
  bool of_profiler = false;
};

// Of what is known by name: the time of the outermost calls, and one of them.
struct KnownTime {
  Nanos time;
  EventId frame;
};

// The outermost frame that launches nothing, on any thread, while it runs; or one of a function
// that is known by its name, whatever it launches.
struct HostFrame {
  EventId frame;
  Nanos idle;
  const KnownCall* known = nullptr;  // with the most time within it
  KnownTime known_time;
};

struct HostFrames {
  std::vector<HostFrame> quiet, known;
};

class HostFrameFinder {
 public:
  explicit HostFrameFinder(const Assessment& a) : a_(a), store_(a.input().store) {
    const CallTree& tree = a.input().tree;
    for (const EventId work : tree.linked()) {
      const CallId launch = tree.launch(work);
      if (!launch.valid()) continue;
      launches_.push_back(store_.start(tree.event(launch)));
      const TrackId track = store_.track_id(tree.event(launch));
      if (std::ranges::find(tracks_, track) == tracks_.end() && tracks_.size() < kMostTracks)
        tracks_.push_back(track);
    }
    std::ranges::sort(launches_);
  }

  HostFrames find() {
    std::map<TrackId, std::vector<EventId>> frames;
    for (const TrackId track : tracks_) frames[track];
    for (size_t i = 0; i < store_.size(); ++i) {
      const EventId e(i);
      if (store_.kind(e) != EventKind::kPython) continue;
      if (const auto of = frames.find(store_.track_id(e)); of != frames.end())
        of->second.push_back(e);
    }
    HostFrames found;
    for (auto& [track, of_track] : frames) {
      std::ranges::sort(of_track, [this](EventId x, EventId y) {
        return std::tuple(store_.start(x), -store_.end(x).count, x.index) <
               std::tuple(store_.start(y), -store_.end(y).count, y.index);
      });
      add_quiet(of_track, found.quiet);
      add_known(of_track, found.known);
    }
    return found;
  }

 private:
  static constexpr size_t kMostTracks = 8;

  void add_known(const std::vector<EventId>& frames, std::vector<HostFrame>& found) {
    const size_t first = found.size();
    Nanos end{INT64_MIN};
    for (const EventId e : frames) {
      const KnownCall* known = facts_of(e).known;
      if (known == nullptr || store_.start(e) < end) continue;
      end = store_.end(e);
      found.push_back({e, {}, known, {store_.duration(e), e}});
    }
    add_idle_time({found.begin() + static_cast<std::ptrdiff_t>(first), found.end()},
                  {IdleCause::kHost, IdleCause::kHostCode, IdleCause::kSynchronization});
  }

  void add_quiet(const std::vector<EventId>& frames, std::vector<HostFrame>& found) {
    const size_t first = found.size();
    Nanos end{INT64_MIN}, known_end{INT64_MIN};
    std::map<const KnownCall*, KnownTime> times;
    bool of_profiler = false;
    const auto close = [&] {
      if (found.size() == first || end.count == INT64_MIN) return;
      HostFrame& last = found.back();
      for (const auto& [known, time] : times)
        if (time.time > last.known_time.time) {
          last.known = known;
          last.known_time = time;
        }
      if (of_profiler) found.pop_back();
    };
    for (const EventId e : frames) {
      if (store_.start(e) >= end) {
        if (launches_in(e)) continue;
        close();
        times.clear();
        of_profiler = false;
        end = store_.end(e);
        known_end = {INT64_MIN};
        found.push_back({e, {}, nullptr, {}});
      }
      const NameFacts& facts = facts_of(e);
      of_profiler = of_profiler || facts.of_profiler;
      if (facts.known == nullptr || store_.start(e) < known_end) continue;
      known_end = store_.end(e);
      KnownTime& known = times[facts.known];
      known.time += store_.duration(e);
      known.frame = e;
    }
    close();
    // Late launches, and host code: what such a function may be the cause of.
    add_idle_time({found.begin() + static_cast<std::ptrdiff_t>(first), found.end()},
                  {IdleCause::kHost, IdleCause::kHostCode});
  }

  void add_idle_time(std::span<HostFrame> frames, std::initializer_list<IdleCause> causes) {
    const auto& devices = a_.idle().devices;
    const auto device = std::ranges::find(devices, true, &DeviceIdle::is_explained);
    if (device == devices.end()) return;
    size_t at = 0;
    for (const IdleStretch& stretch : device->stretches) {
      if (std::ranges::find(causes, stretch.cause) == causes.end()) continue;
      while (at < frames.size() && store_.end(frames[at].frame) <= stretch.when.begin) ++at;
      for (size_t i = at; i < frames.size(); ++i) {
        const EventId e = frames[i].frame;
        if (store_.start(e) >= stretch.when.end) break;
        frames[i].idle += std::min(store_.end(e), stretch.when.end) -
                          std::max(store_.start(e), stretch.when.begin);
      }
    }
  }

  bool launches_in(EventId frame) const {
    const auto next = std::ranges::lower_bound(launches_, store_.start(frame));
    return next != launches_.end() && *next < store_.end(frame);
  }

  const NameFacts& facts_of(EventId frame) {
    const auto [found, is_new] = facts_.try_emplace(store_.name_id(frame));
    if (is_new && store_.name_id(frame).valid()) {
      const std::string_view name = store_.name(frame);
      found->second = {find_known(name), is_profilers(name)};
    }
    return found->second;
  }

  const Assessment& a_;
  const EventStore& store_;
  std::vector<Nanos> launches_;
  std::vector<TrackId> tracks_;
  std::unordered_map<StringId, NameFacts> facts_;
};

// All calls of one function from one place of the program.
struct CalledFunction {
  StringId name;
  Nanos idle, time;
  std::vector<CoveredEvent> calls;
  std::map<const KnownCall*, KnownTime> known;
};

// Those worth telling, the most idle time first.
std::vector<CalledFunction> by_function(const Assessment& a, const std::vector<HostFrame>& frames) {
  const EventStore& store = a.input().store;
  std::map<std::pair<StringId, StringId>, CalledFunction> by_name;
  for (const HostFrame& frame : frames) {
    if (frame.idle.count <= 0) continue;
    const EventId place = a.places().of(frame.frame).frame;
    const StringId at = place.valid() ? store.name_id(place) : StringId{};
    CalledFunction& f = by_name[{at, store.name_id(frame.frame)}];
    f.name = store.name_id(frame.frame);
    f.idle += frame.idle;
    f.time += store.duration(frame.frame);
    f.calls.push_back({frame.frame, frame.idle});
    if (frame.known == nullptr) continue;
    KnownTime& known = f.known[frame.known];
    known.time += frame.known_time.time;
    known.frame = frame.known_time.frame;
  }
  std::vector<CalledFunction> list;
  for (auto& [names, f] : by_name) {
    const auto calls = static_cast<int64_t>(f.calls.size());
    if (ratio(f.idle, a.length()) >= kWorthTelling && f.time.count / calls >= kShortest.count)
      list.push_back(std::move(f));
  }
  std::ranges::stable_sort(list, std::greater<>(), &CalledFunction::idle);
  if (list.size() > kMostTold) list.resize(kMostTold);
  return list;
}

// "torch/nn/modules/module.py state_dict" without the line, or a built-in function's name.
std::string function_text(std::string_view name) {
  const auto frame = read_frame_name(name);
  if (!frame) return std::string(built_in_name(name));
  return fmt::format("{} {}", frame->file, frame->function);
}

std::string per_step_text(const Assessment& a, Nanos time) {
  const auto steps = static_cast<int64_t>(a.base().steps.size());
  if (a.base().kind >= TimeBaseKind::kRecording || steps == 0) return micros_text(time);
  return micros_text({time.count / steps}) + " a step";
}

HostFunction tell(const Assessment& a, CalledFunction& called, std::string_view issue) {
  constexpr double kMostOfIt = 0.4;  // of the function's time, by what is known in it
  const EventStore& store = a.input().store;
  HostFunction function;
  Finding& f = function.finding;
  f.kind = FindingKind::kHostWork;
  f.is_quiet_function = true;
  f.time = called.idle;
  f.share = ratio(f.time, a.length());
  f.covered = std::move(called.calls);
  find_places(a.places(), f);
  f.subject = f.places.empty() ? "host code" : short_place_text(f.places.front());
  f.title = fmt::format("{}: {} runs on the host while the GPU is idle", per_step_text(a, f.time),
                        f.subject);
  f.issue = fmt::format("{} of one function{} take {} on the host, {} of it with the GPU idle.",
                        counted(f.covered.size(), "call"), issue, micros_text(called.time),
                        micros_text(f.time));
  f.notes.push_back({"", shown_frame(store.text(called.name)), " is that function."});
  advise(a, f, traits_of(a));
  f.confidence = Confidence::kHigh;
  f.saving_at_most = f.time;
  f.projections = {{"none of this time left (upper bound)", {}, f.share}};
  rate_part_of_whole(f);
  f.call_stack = call_stack_of(a.input(), f.covered.front().event);
  const auto most =
      std::ranges::max_element(called.known, {}, [](const auto& k) { return k.second.time; });
  if (most == called.known.end() || ratio(most->second.time, called.time) < kMostOfIt)
    return function;
  function.name = function_text(store.name(most->second.frame));
  function.what = most->first->what;
  function.instead = most->first->instead;
  return function;
}

}  // namespace

std::vector<HostFunction> find_host_functions(const Assessment& a) {
  std::vector<HostFunction> functions;
  const Nanos host = a.idle().time(IdleCause::kHost) + a.idle().time(IdleCause::kHostCode);
  if (!a.places().has_frames() || ratio(host, a.length()) < kWorthTelling) return functions;
  const HostFrames frames = HostFrameFinder(a).find();
  for (CalledFunction& quiet : by_function(a, frames.quiet))
    functions.push_back(tell(a, quiet, " launch nothing and"));
  for (CalledFunction& known : by_function(a, frames.known)) {
    HostFunction function = tell(a, known, "");
    // What it spends its time in may have been told.
    if (std::ranges::find(functions, function.what, &HostFunction::what) == functions.end())
      functions.push_back(std::move(function));
  }
  return functions;
}

void tell_known(const HostFunction& function, Finding& f) {
  if (function.name.empty()) return;
  f.title += fmt::format(" ({} {})", function.name, function.what);
  f.notes.push_back({"Most of it: ", function.name, " " + function.what + "."});
  f.change_code = function.instead;
}

}  // namespace fathom
