#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "events/event_store.h"
#include "events/intervals.h"

namespace fathom {

// Preparation of later runs: no step of a program.
enum class SetupKind : uint8_t { kCompilation, kAutotuning, kCapture };

// What a host call of this name prepares (data/phases/setup.tsv); none: it is no preparation.
std::optional<SetupKind> setup_kind(std::string_view name);

// When threads of the host were preparing.
class SetupSpans {
 public:
  explicit SetupSpans(const EventStore& store);

  bool empty() const { return spans_.empty(); }
  // Whether what a thread does at a time is part of it.
  bool contains(TrackId thread, Nanos time) const;
  // An event that shows it; invalid where there is none.
  EventId example() const { return example_; }

 private:
  std::vector<std::vector<Interval>> by_track_;  // merged, in the order of time
  std::vector<Interval> spans_;
  EventId example_;
};

}  // namespace fathom
