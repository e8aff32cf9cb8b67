#include "events/timeline_rows.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace fathom {

StringId TimelineRows::text(std::string_view text) { return out_.intern(with_valid_utf8(text)); }

TrackId TimelineRows::thread(int64_t pid, int64_t tid) {
  auto [found, is_new] = threads_.try_emplace(Pair(pid, tid));
  if (is_new) {
    found->second =
        out_.intern_track(out_.intern(fmt::format("{}", pid)), out_.intern(fmt::format("{}", tid)));
  }
  return found->second;
}

TrackId TimelineRows::stream(std::optional<int64_t> device, std::optional<int64_t> stream) {
  auto [found, is_new] = streams_.try_emplace(std::pair(device, stream));
  if (is_new) {
    const StringId gpu = out_.intern(device ? fmt::format("GPU {}", *device) : "GPU");
    const StringId name = out_.intern(stream ? fmt::format("stream {}", *stream) : "stream");
    found->second = out_.intern_track(gpu, name);
    out_.label_process(found->second, gpu);
    out_.name_thread(found->second, name);
  }
  return found->second;
}

LaunchKey TimelineRows::key(int64_t process, int64_t correlation) {
  constexpr int kCorrelationBits = 40;
  const auto number = static_cast<int64_t>(processes_.size());
  const int64_t nth = processes_.try_emplace(static_cast<uint64_t>(process), number).first->second;
  const uint64_t id = static_cast<uint64_t>(correlation) ^ static_cast<uint64_t>(nth)
                                                               << kCorrelationBits;
  return {static_cast<int64_t>(id), false};
}

bool TimelineRows::readable(std::optional<int64_t> begin, StringId name) {
  if (begin && is_readable_time(Nanos{*begin})) return true;
  out_.diagnostics().add(Flaw::kMissingTime, out_.text(name));
  out_.skip_position();
  return false;
}

std::optional<EventStoreBuilder::Common> TimelineRows::event(EventKind kind, StringId name,
                                                             TrackId track,
                                                             std::optional<int64_t> begin,
                                                             std::optional<int64_t> end) {
  if (!readable(begin, name)) return {};
  EventStoreBuilder::Common event;
  event.kind = kind;
  event.name = name;
  event.track = track;
  event.start = Nanos{*begin};
  if (!end || !is_readable_time(Nanos{*end})) {
    out_.diagnostics().add(Flaw::kMissingDuration, out_.text(name));
  } else if (*end < *begin) {
    out_.diagnostics().add(Flaw::kNegativeDuration, out_.text(name));
  } else {
    event.duration = Nanos{*end - *begin};
  }
  return event;
}

void TimelineRows::add_instant(EventKind kind, StringId name, TrackId track,
                               std::optional<int64_t> at) {
  if (!readable(at, name)) return;
  EventStoreBuilder::Common event;
  event.kind = kind;
  event.name = name;
  event.track = track;
  event.start = Nanos{*at};
  out_.add(event);
}

std::optional<int32_t> small_number(std::optional<int64_t> value) {
  if (!value || *value < INT32_MIN || *value > INT32_MAX) return {};
  return static_cast<int32_t>(*value);
}

std::optional<Dim3> dimensions(std::optional<int64_t> x, std::optional<int64_t> y,
                               std::optional<int64_t> z) {
  const auto fits = [](int64_t n) { return n >= 0 && n <= UINT32_MAX; };
  if (!x) return {};
  const int64_t all[] = {*x, y.value_or(1), z.value_or(1)};
  if (!fits(all[0]) || !fits(all[1]) || !fits(all[2])) return {};
  return Dim3{static_cast<uint32_t>(all[0]), static_cast<uint32_t>(all[1]),
              static_cast<uint32_t>(all[2])};
}

}  // namespace fathom
