#include "story/run/work_shares.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace fathom {

bool is_copy_work(const EventStore& store, EventId event) {
  if (store.kind(event) != EventKind::kKernel) return true;
  const std::string_view name = store.name(event);
  return name.starts_with("MEMORY_COPY_") || name.starts_with("__amd_rocclr_copyBuffer");
}

WorkShares share_time(const SheetInput& input, std::vector<EventId> work) {
  const EventStore& store = input.store;
  std::ranges::sort(work, [&store](EventId a, EventId b) {
    return std::tuple(store.start(a), a) < std::tuple(store.start(b), b);
  });
  struct Open {
    int rank;
    size_t place;
    Nanos end;
    bool operator<(const Open& other) const {  // the top of the queue is the largest
      return std::tuple(other.rank, place) < std::tuple(rank, other.place);
    }
  };
  WorkShares out;
  out.owned.resize(work.size());
  std::vector<Nanos> times;
  for (const EventId e : work) {
    times.push_back(store.start(e));
    times.push_back(std::max(store.start(e), store.end(e)));
  }
  std::ranges::sort(times);
  std::priority_queue<Open> open;
  size_t next = 0;
  for (size_t i = 0; i + 1 < times.size(); ++i) {
    for (; next < work.size() && store.start(work[next]) <= times[i]; ++next) {
      const EventId e = work[next];
      const int rank = is_copy_work(store, e) ? 2 : input.selection.is_communication(e) ? 1 : 0;
      open.push({rank, next, std::max(store.start(e), store.end(e))});
    }
    while (!open.empty() && open.top().end <= times[i]) open.pop();
    if (!open.empty()) out.owned[open.top().place] += times[i + 1] - times[i];
  }
  out.work = std::move(work);
  return out;
}

}  // namespace fathom
