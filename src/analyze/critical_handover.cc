// Threads that work for each other: the main thread pauses while autograd's thread runs backward.
#include <algorithm>

#include "analyze/critical_host.h"

namespace fathom {
namespace {

constexpr int64_t kShortestPause = 5'000;
constexpr size_t kMostThreads = 64;

// What another thread did during one pause of the main thread.
struct Burst {
  uint32_t pause;        // segment of the main thread
  uint32_t first, last;  // segments of the other
  int64_t begin, end;
  bool is_autograd;
};

class Handovers {
 public:
  Handovers(const SheetInput& input, HostParts& parts) : input_(input), parts_(parts) {}

  void link() {
    if (parts_.threads.size() < 2 || parts_.threads.size() > kMostThreads) return;
    const auto main = std::ranges::find_if(parts_.threads, &GraphThread::is_main);
    if (main == parts_.threads.end()) return;
    for (const GraphThread& thread : parts_.threads) {
      if (&thread == &*main || (!thread.is_autograd && !thread.launches)) continue;
      if (pid(thread) == pid(*main)) find_bursts(*main, thread);
    }
    if (bursts_.empty()) return;
    std::ranges::stable_sort(bursts_, {}, &Burst::pause);
    split();
  }

 private:
  uint32_t pid(const GraphThread& thread) const {
    for (uint32_t i = thread.begin; i < thread.end; ++i)
      if (parts_.segments[i].event.valid())
        return input_.store.track(parts_.segments[i].event).pid.index;
    return StringId::kNone;
  }

  // Calls of the other thread that lie in one pause of the main thread, all of them in a row.
  void find_bursts(const GraphThread& main, const GraphThread& other) {
    const auto& segments = parts_.segments;
    const auto begin = segments.begin() + main.begin, end = segments.begin() + main.end;
    uint32_t i = other.begin;
    while (i < other.end) {
      if (segments[i].kind == NodeKind::kGap) {
        ++i;
        continue;
      }
      const auto after =
          std::upper_bound(begin, end, segments[i].begin,
                           [](int64_t t, const GraphSegment& s) { return t < s.begin; });
      const bool in_pause =
          after != begin && is_pause(*(after - 1)) && segments[i].end <= (after - 1)->end;
      if (!in_pause) {
        ++i;
        continue;
      }
      const GraphSegment& pause = *(after - 1);
      Burst burst{static_cast<uint32_t>(&pause - segments.data()),
                  i,
                  i,
                  segments[i].begin,
                  segments[i].end,
                  other.is_autograd};
      int64_t inside = 0;
      for (; i < other.end && segments[i].end <= pause.end; ++i) {
        if (segments[i].kind == NodeKind::kGap) continue;
        burst.last = i;
        burst.end = segments[i].end;
        inside += segments[i].end - segments[i].begin;
      }
      // Without the engine's word for it, a thread that is busy for most of the pause.
      if (other.is_autograd || 2 * inside > pause.end - pause.begin) bursts_.push_back(burst);
    }
  }
  static bool is_pause(const GraphSegment& s) {
    return (s.kind == NodeKind::kGap || s.kind == NodeKind::kOp) &&
           s.end - s.begin >= kShortestPause;
  }

  // The pause becomes: up to the handover, maybe the wait, and from the return on.
  void split() {
    std::vector<GraphSegment> segments;
    segments.reserve(parts_.segments.size() + 2 * bursts_.size());
    std::vector<uint32_t> moved(parts_.segments.size());
    std::vector<PartRange> cut(bursts_.size());  // by burst: segments before and after it
    size_t next = 0;
    for (uint32_t i = 0; i < parts_.segments.size(); ++i) {
      const GraphSegment& old = parts_.segments[i];
      size_t last = next;
      while (last < bursts_.size() && bursts_[last].pause == i) ++last;
      if (last > next) {
        int64_t begin = bursts_[next].begin, end = bursts_[next].end;
        bool known = false;
        for (size_t b = next; b < last; ++b) {
          begin = std::min(begin, bursts_[b].begin);
          end = std::max(end, bursts_[b].end);
          known = known || bursts_[b].is_autograd;
        }
        segments.push_back({old.begin, begin, old.event, old.kind, false});
        const auto before = static_cast<uint32_t>(segments.size() - 1);
        if (!known) segments.push_back({begin, end, old.event, NodeKind::kPause, false});
        segments.push_back({end, old.end, old.event, old.kind, false});
        for (; next < last; ++next)
          cut[next] = {before, static_cast<uint32_t>(segments.size() - 1)};
      } else {
        segments.push_back(old);
      }
      moved[i] = static_cast<uint32_t>(segments.size() - 1);
    }
    move_all(segments, moved);
    for (size_t b = 0; b < bursts_.size(); ++b) {
      const uint32_t first = moved[bursts_[b].first], last = moved[bursts_[b].last];
      parts_.edges.push_back({first, cut[b].begin, false, false, GraphEdge::Kind::kHandover});
      parts_.edges.push_back({cut[b].end, last, false, false, GraphEdge::Kind::kHandover});
      // Before it the thread had nothing to do.
      if (first > 0 && parts_.segments[first - 1].kind == NodeKind::kGap &&
          parts_.segments[first - 1].end == parts_.segments[first].begin)
        parts_.segments[first - 1].dropped = true;
    }
  }

  void move_all(std::vector<GraphSegment>& segments, const std::vector<uint32_t>& moved) {
    parts_.segments = std::move(segments);
    for (GraphThread& thread : parts_.threads) {
      const uint32_t begin = thread.begin == 0 ? 0 : moved[thread.begin - 1] + 1;
      thread.end = moved[thread.end - 1] + 1;
      thread.begin = begin;
    }
    for (GraphWork& work : parts_.works)
      if (work.release != kNoNode) work.release = moved[work.release];
    for (HostEdge& edge : parts_.edges) {
      if (!edge.to_work) edge.node = moved[edge.node];
      if (!edge.from_work) edge.before = moved[edge.before];
    }
  }

  const SheetInput& input_;
  HostParts& parts_;
  std::vector<Burst> bursts_;
};

}  // namespace

void link_threads_of(const SheetInput& input, HostParts& parts) { Handovers(input, parts).link(); }

}  // namespace fathom
