#include "tree/recorded_waits.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace fathom {
namespace {

struct Launched {
  Nanos at;  // begin of the launch call, or a later one of the stream before it
  EventId work;
  EventId longest;  // of the stream up to here, the one that ends last
};

struct Stream {
  int64_t number = 0;
  StringId pid;                 // of its track: the device
  std::vector<Launched> works;  // in the order of the launches
};

class Streams {
 public:
  Streams(const EventStore& store, const CallTree& tree) : store_(store) {
    for (const EventId e : tree.linked()) {
      const GpuWork& work = store.gpu_work(e);
      if (!work.stream) continue;
      Stream& stream = streams_[store.track_id(e)];
      stream.number = *work.stream;
      stream.pid = store.track(e).pid;
      stream.works.push_back({store.start(tree.event(tree.launch(e))), e, e});
    }
    for (auto& [track, stream] : streams_) {
      finish(stream.works);
      by_number_.emplace(stream.number, &stream);
    }
  }

  const Stream* on(TrackId track) const {
    const auto found = streams_.find(track);
    return found == streams_.end() ? nullptr : &found->second;
  }
  // The one stream of this number beside that which waits; of several devices, that of one of them.
  const Stream* find(int64_t number, StringId pid, const Stream* waiting) const {
    const Stream *own = nullptr, *other = nullptr;
    size_t others = 0;
    const auto [begin, end] = by_number_.equal_range(number);
    for (auto at = begin; at != end; ++at) {
      if (at->second == waiting) continue;
      ++others;
      other = at->second;
      if (other->pid == pid) own = other;
    }
    if (others == 0) return begin == end ? nullptr : waiting;
    return others == 1 ? other : own;
  }

  static EventId last_before(const std::vector<Launched>& works, Nanos time) {
    const auto at = std::ranges::lower_bound(works, time, {}, &Launched::at);
    return at == works.begin() ? EventId{} : std::prev(at)->longest;
  }
  static EventId first_after(const std::vector<Launched>& works, Nanos time) {
    const auto at = std::ranges::lower_bound(works, time, {}, &Launched::at);
    return at == works.end() ? EventId{} : at->work;
  }

 private:
  void finish(std::vector<Launched>& works) const {
    std::ranges::sort(works, [](const Launched& x, const Launched& y) {
      return std::tie(x.at, x.work) < std::tie(y.at, y.work);
    });
    for (size_t i = 1; i < works.size(); ++i)
      if (store_.end(works[i - 1].longest) > store_.end(works[i].longest))
        works[i].longest = works[i - 1].longest;
  }

  const EventStore& store_;
  std::map<TrackId, Stream> streams_;
  std::multimap<int64_t, const Stream*> by_number_;
};

}  // namespace

RecordedWaits::RecordedWaits(const EventStore& store, const CallTree& tree) {
  if (!tree.has_launches()) return;
  std::unordered_map<int64_t, EventId> calls;  // by correlation, those that are named
  for (const RecordedWait& wait : store.waits()) {
    if (!wait.call || !wait.record || !wait.stream) continue;
    calls.emplace(*wait.call, EventId{});
    calls.emplace(*wait.record, EventId{});
  }
  if (calls.empty()) return;
  for (CallId c(0); c.index < tree.size(); ++c.index) {
    const EventId e = tree.event(c);
    if (!is_launch(store.kind(e)) || !store.launch(e).key || store.launch(e).key->external)
      continue;
    const auto named = calls.find(store.launch(e).key->id);
    if (named != calls.end() && !named->second.valid()) named->second = e;
  }
  const Streams streams(store, tree);
  for (const RecordedWait& wait : store.waits()) {
    if (!wait.call || !wait.record || !wait.stream) continue;
    const EventId call = calls[*wait.call], record = calls[*wait.record];
    // An event that was recorded before the recording began may be behind anything.
    if (!call.valid() || !record.valid()) continue;
    const Stream* waiting = streams.on(store.track_id(wait.event));
    const bool is_of_stream = store.name(call).find("WaitEvent") != std::string_view::npos;
    // The host's wait lies on the stream of the event.
    const Stream* source =
        streams.find(*wait.stream, store.track(wait.event).pid, is_of_stream ? waiting : nullptr);
    const EventId before =
        source == nullptr ? EventId{} : Streams::last_before(source->works, store.start(record));
    known_.emplace(call, before);
    if (!is_of_stream || !before.valid() || waiting == nullptr || waiting == source) continue;
    const EventId work = Streams::first_after(waiting->works, store.start(call));
    if (work.valid()) of_streams_.push_back({work, call, before});
  }
  std::ranges::sort(of_streams_, [](const OfStream& x, const OfStream& y) {
    return std::tie(x.work, x.source, x.call) < std::tie(y.work, y.source, y.call);
  });
}

std::span<const RecordedWaits::OfStream> RecordedWaits::of_stream(EventId work) const {
  const auto [begin, end] = std::ranges::equal_range(of_streams_, work, {}, &OfStream::work);
  return {begin, end};
}

std::optional<RecordedWaits::OfHost> RecordedWaits::of_host(EventId call) const {
  const auto found = known_.find(call);
  if (found == known_.end()) return {};
  return OfHost{found->second};
}

}  // namespace fathom
