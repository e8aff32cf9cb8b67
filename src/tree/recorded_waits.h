#pragma once

#include <optional>
#include <unordered_map>

#include "tree/call_tree.h"

// What waited for which GPU work, where the recorder noted the ids: PyTorch's profiler with
// `enable_cuda_sync_events`. A wait names the call that asked for it, and of an event the call that
// recorded it; the event is behind all work that the stream had been given when it was recorded.
namespace fathom {

class RecordedWaits {
 public:
  RecordedWaits(const EventStore& store, const CallTree& tree);

  // A stream waits for an event of another stream before this work.
  struct OfStream {
    EventId work, call;
    EventId source;  // the last work before the event; on a stream, the one that ends last
  };
  // By work, then by source.
  std::span<const OfStream> of_streams() const { return of_streams_; }
  std::span<const OfStream> of_stream(EventId work) const;

  struct OfHost {
    EventId source;  // that the call waits for; invalid: no work was before the event
  };
  // None: what the call waits for is not known.
  std::optional<OfHost> of_host(EventId call) const;

 private:
  std::vector<OfStream> of_streams_;
  std::unordered_map<EventId, EventId> known_;  // call that waits → source
};

}  // namespace fathom
