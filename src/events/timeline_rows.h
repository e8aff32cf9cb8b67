#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "events/event_store.h"

namespace fathom {

// Fills a builder from the tables of a recorder that keeps begin and end in nanoseconds and numbers
// processes, threads, devices and streams.
class TimelineRows {
 public:
  explicit TimelineRows(EventStoreBuilder& out) : out_(out) {}

  // Texts from outside may hold any bytes.
  StringId text(std::string_view text);
  TrackId thread(int64_t pid, int64_t tid);
  TrackId stream(std::optional<int64_t> device, std::optional<int64_t> stream);

  // Correlation ids restart in each process. Those of the first process stay as they are.
  LaunchKey key(int64_t process, int64_t correlation);

  // An event at that time. Nothing where it has no readable begin: counted and skipped.
  std::optional<EventStoreBuilder::Common> event(EventKind kind, StringId name, TrackId track,
                                                 std::optional<int64_t> begin,
                                                 std::optional<int64_t> end);
  // One that happens at a moment.
  void add_instant(EventKind kind, StringId name, TrackId track, std::optional<int64_t> at);

  EventStoreBuilder& out() { return out_; }

 private:
  using Pair = std::pair<int64_t, int64_t>;

  bool readable(std::optional<int64_t> begin, StringId name);

  EventStoreBuilder& out_;
  std::map<Pair, TrackId> threads_;
  std::map<std::pair<std::optional<int64_t>, std::optional<int64_t>>, TrackId> streams_;
  std::unordered_map<uint64_t, int64_t, TableHash> processes_;  // their number, by first sight
};

// A number of the file that must fit: registers, sizes and the like.
std::optional<int32_t> small_number(std::optional<int64_t> value);
std::optional<Dim3> dimensions(std::optional<int64_t> x, std::optional<int64_t> y,
                               std::optional<int64_t> z);

}  // namespace fathom
