// Threads that work for each other: the main thread pauses while autograd's thread runs backward.
#include <algorithm>

#include "analyze/critical/host_parts.h"

namespace fathom {
namespace {

constexpr int64_t kShortestPause = 5'000;
constexpr size_t kMostThreads = 64;

// What another thread did during one pause of the main thread.
struct Burst {
  uint32_t pause;        // slice of the main thread
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
      if (thread.pid == main->pid) find_bursts(*main, thread);
    }
    if (bursts_.empty()) return;
    std::ranges::stable_sort(bursts_, {}, &Burst::pause);
    split();
  }

 private:
  struct Pause {
    uint32_t slice;
    int64_t begin, end;
  };

  // The pauses of the main thread, in the order of time.
  template <typename Visit>
  void visit_pauses(const GraphThread& main, Visit visit) const {
    for (uint32_t i = main.begin; i < main.end; ++i) {
      const GraphSegment& segment = parts_.segments[i];
      int64_t at = segment.begin;
      for (uint32_t s = segment.first_slice; s < segment.first_slice + segment.slice_count; ++s) {
        const HostSlice& slice = parts_.slices[s];
        const int64_t end = at + slice.length;
        const bool is_call = slice.event.valid() && is_launch(input_.store.kind(slice.event));
        if (slice.length >= kShortestPause && !is_call) visit(Pause{s, at, end});
        at = end;
      }
    }
  }

  // Time outside all calls: the thread has nothing to do, or nothing of it was recorded.
  bool is_outside(const GraphSegment& segment) const {
    return segment.kind == NodeKind::kHost && segment.slice_count == 1 &&
           !parts_.slices[segment.first_slice].event.valid();
  }

  // Segments of the other thread that lie in one pause of the main thread, all of them in a row.
  void find_bursts(const GraphThread& main, const GraphThread& other) {
    const auto& segments = parts_.segments;
    uint32_t i = other.begin;
    visit_pauses(main, [&](const Pause& pause) {
      while (i < other.end && segments[i].begin < pause.begin) ++i;
      while (i < other.end && is_outside(segments[i])) ++i;
      const uint32_t first = i;
      uint32_t last = kNoNode;
      int64_t inside = 0;
      for (; i < other.end && segments[i].end <= pause.end; ++i) {
        if (is_outside(segments[i])) continue;
        last = i;
        inside += segments[i].end - segments[i].begin;
      }
      if (last == kNoNode || segments[first].begin < pause.begin) return;
      // Without the engine's word for it, a thread that is busy for most of the pause.
      if (!other.is_autograd && 2 * inside <= pause.end - pause.begin) return;
      bursts_.push_back(
          {pause.slice, first, last, segments[first].begin, segments[last].end, other.is_autograd});
    });
  }

  // The pause becomes: up to the handover, maybe the wait, and from the return on.
  void split() {
    HostParts cut;
    cut.segments.reserve(parts_.segments.size() + 2 * bursts_.size());
    cut.slices.reserve(parts_.slices.size() + 2 * bursts_.size());
    std::vector<uint32_t> moved(parts_.segments.size());
    std::vector<PartRange> around(bursts_.size());  // by burst: segments before and after it
    size_t next = 0;
    const auto begin_segment = [&](GraphSegment segment, int64_t begin) {
      segment.begin = segment.end = begin;
      segment.first_slice = static_cast<uint32_t>(cut.slices.size());
      segment.slice_count = 0;
      cut.segments.push_back(segment);
    };
    const auto last_of = [&] { return static_cast<uint32_t>(cut.segments.size() - 1); };
    const auto add = [&](EventId event, int64_t length) {
      add_slice(cut, cut.segments.back(), event, length);
      cut.segments.back().end += length;
    };
    for (uint32_t i = 0; i < parts_.segments.size(); ++i) {
      const GraphSegment& old = parts_.segments[i];
      begin_segment(old, old.begin);
      if (old.slice_count == 0) cut.segments.back().end = old.end;
      for (uint32_t s = old.first_slice; s < old.first_slice + old.slice_count; ++s) {
        const HostSlice slice = parts_.slices[s];
        const int64_t slice_begin = cut.segments.back().end;
        const size_t first = next;
        while (next < bursts_.size() && bursts_[next].pause == s) ++next;
        if (first == next) {
          add(slice.event, slice.length);
          continue;
        }
        int64_t begin = bursts_[first].begin, end = bursts_[first].end;
        bool known = false;
        for (size_t b = first; b < next; ++b) {
          begin = std::min(begin, bursts_[b].begin);
          end = std::max(end, bursts_[b].end);
          known = known || bursts_[b].is_autograd;
        }
        add(slice.event, begin - slice_begin);
        const uint32_t before = last_of();
        if (!known) {
          begin_segment(old, begin);
          cut.segments.back().kind = NodeKind::kPause;
          cut.segments.back().event = slice.event;
          cut.segments.back().end = end;
        }
        begin_segment(old, end);
        add(slice.event, slice_begin + slice.length - end);
        for (size_t b = first; b < next; ++b) around[b] = {before, last_of()};
      }
      moved[i] = last_of();
    }
    parts_.segments = std::move(cut.segments);
    parts_.slices = std::move(cut.slices);
    move_all(moved);
    join(moved, around);
  }

  void join(const std::vector<uint32_t>& moved, const std::vector<PartRange>& around) {
    for (size_t b = 0; b < bursts_.size(); ++b) {
      const uint32_t first = moved[bursts_[b].first], last = moved[bursts_[b].last];
      parts_.edges.push_back({first, around[b].begin, false, false, GraphEdge::Kind::kHandover});
      parts_.edges.push_back({around[b].end, last, false, false, GraphEdge::Kind::kHandover});
      // Before it the thread had nothing to do.
      if (first > 0 && is_outside(parts_.segments[first - 1]) &&
          parts_.segments[first - 1].end == parts_.segments[first].begin)
        parts_.segments[first - 1].dropped = true;
    }
  }

  void move_all(const std::vector<uint32_t>& moved) {
    for (GraphThread& thread : parts_.threads) {
      thread.begin = thread.begin == 0 ? 0 : moved[thread.begin - 1] + 1;
      thread.end = moved[thread.end - 1] + 1;
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
