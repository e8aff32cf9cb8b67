#include "analyze/critical/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "base/hash.h"
#include "base/repeat_budget.h"
#include "sheets/op_columns.h"

namespace fathom {
namespace {

struct PartWords {
  std::string_view name, label;
};
constexpr PartWords kPartWords[] = {
    {"host_outside_calls", "host outside recorded calls"},
    {"host_op", "host in ops"},
    {"host_call", "host in runtime calls"},
    {"launch_call", "launch calls"},
    {"sync_return", "return from waits"},
    {"host_pause", "host pauses"},
    {"profiler", "the profiler"},
    {"kernel", "kernels"},
    {"collective", "collectives"},
    {"copy", "copies"},
    {"memset", "memsets"},
    {"launch_latency", "launch latency"},
    {"stream_gap", "gaps between kernels"},
    {"event_wait", "event waits"},
    {"unexplained", "unexplained delays"},
    {"before", "before the first event"},
};
static_assert(std::size(kPartWords) == static_cast<size_t>(PathPart::kCount));

// ns beyond the usual delay: what is shorter needs no explanation.
constexpr int64_t kUsualSpread = 10'000;

PathPart delay_part(const CriticalGraph& g, const PathStep& step) {
  switch (step.link) {
    case PathLink::kNone:
      return PathPart::kBefore;
    case PathLink::kWait:
    case PathLink::kInferred:
      return PathPart::kEventWait;
    case PathLink::kLaunch:
      return step.delay > g.launch_latency + kUsualSpread ? PathPart::kUnexplained
                                                          : PathPart::kLaunchLatency;
    case PathLink::kOrder:
      break;
  }
  return step.delay > g.stream_gap + kUsualSpread ? PathPart::kUnexplained : PathPart::kStreamGap;
}

PathPart node_part(NodeKind kind) {
  switch (kind) {
    case NodeKind::kLaunch:
      return PathPart::kHostLaunch;
    case NodeKind::kSync:
      return PathPart::kSyncReturn;
    case NodeKind::kPause:
      return PathPart::kHostPause;
    case NodeKind::kKernel:
      return PathPart::kKernel;
    case NodeKind::kCollective:
      return PathPart::kCollective;
    case NodeKind::kCopy:
      return PathPart::kCopy;
    case NodeKind::kMemset:
      return PathPart::kMemset;
    case NodeKind::kHost:
    case NodeKind::kCount:
      break;
  }
  return PathPart::kHostOutside;
}

PathPart slice_part(const EventStore& store, const HostSlice& slice) {
  if (!slice.event.valid()) return PathPart::kHostOutside;
  return store.kind(slice.event) == EventKind::kCpuOp ? PathPart::kHostOp : PathPart::kHostCall;
}

// Of a stretch of the host's time, what the profiler took.
int64_t profiler_time(const CriticalGraph& g, int64_t begin, int64_t length) {
  if (g.profiler.empty() || length <= 0) return 0;
  auto span = std::ranges::upper_bound(g.profiler, begin, {},
                                       [](const auto& known) { return known.second; });
  int64_t sum = 0;
  for (; span != g.profiler.end() && span->first < begin + length; ++span)
    sum += std::min(span->second, begin + length) - std::max(span->first, begin);
  return sum;
}

// Calls visit(part, event, time) for a node that takes so long: of its slices, or of itself. The
// times add up to its time.
template <typename VisitAll>
void visit_parts(const CriticalGraph& g, const EventStore& store, uint32_t node, int64_t time,
                 VisitAll visit_all) {
  const auto visit = [&](PathPart part, EventId event, int64_t own, int64_t begin, int64_t length) {
    const int64_t overhead = std::min(own, profiler_time(g, begin, length));
    if (overhead > 0) visit_all(PathPart::kProfiler, EventId{}, overhead);
    visit_all(part, event, own - overhead);
  };
  if (is_on_gpu(g.kind[node])) return visit_all(node_part(g.kind[node]), g.event[node], time);
  if (g.kind[node] != NodeKind::kHost)
    return visit(node_part(g.kind[node]), g.event[node], time, g.start[node], g.duration[node]);
  const double scale = g.duration[node] > 0 && time != g.duration[node]
                           ? static_cast<double>(time) / static_cast<double>(g.duration[node])
                           : 1;
  int64_t left = time, at = g.start[node];
  const std::span<const HostSlice> slices = g.slices_of(node);
  for (size_t i = 0; i < slices.size(); ++i) {
    int64_t part = left;
    if (i + 1 < slices.size()) {
      part = scale == 1 ? int64_t{slices[i].length}
                        : static_cast<int64_t>(static_cast<double>(slices[i].length) * scale);
      part = std::clamp<int64_t>(part, 0, left);
    }
    visit(slice_part(store, slices[i]), slices[i].event, part, at, slices[i].length);
    left -= part;
    at += slices[i].length;
  }
}

// Calls visit(step, its time on the path): of two that overlap, the first counts until the second
// begins.
template <typename Visit>
void visit_path(const CriticalGraph& g, const GraphChange& change,
                const std::vector<PathStep>& path, Visit visit) {
  int64_t overlap = 0;
  for (const PathStep& step : path) {
    visit(step, time_on_path(g, change, step.node) - overlap);
    overlap = std::max<int64_t>(0, -step.delay);
  }
}

}  // namespace

std::string_view path_part_name(PathPart part) {
  return kPartWords[static_cast<size_t>(part)].name;
}
std::string_view path_part_label(PathPart part) {
  return kPartWords[static_cast<size_t>(part)].label;
}

PathShares share_path(const EventStore& store, const CriticalGraph& g, const GraphChange& change,
                      const std::vector<PathStep>& path) {
  PathShares shares{};
  visit_path(g, change, path, [&](const PathStep& step, int64_t time) {
    visit_parts(g, store, step.node, time, [&](PathPart part, EventId, int64_t of_part) {
      shares[static_cast<size_t>(part)] += of_part;
    });
    if (step.delay > 0) shares[static_cast<size_t>(delay_part(g, step))] += step.delay;
  });
  return shares;
}

std::string path_shares_text(const PathShares& shares) {
  // What a reader tells apart: parts of the host are one.
  const auto sum = [&](std::initializer_list<PathPart> parts) {
    int64_t total = 0;
    for (const PathPart part : parts) total += shares[static_cast<size_t>(part)];
    return total;
  };
  int64_t all = 0;
  for (const int64_t share : shares) all += share;
  std::vector<std::pair<int64_t, std::string_view>> named = {
      {sum({PathPart::kKernel, PathPart::kMemset}), "kernels"},
      {sum({PathPart::kCollective}), "collectives"},
      {sum({PathPart::kCopy}), "copies"},
      {sum({PathPart::kHostOutside, PathPart::kHostOp, PathPart::kHostCall, PathPart::kHostPause}),
       "host"},
      {sum({PathPart::kHostLaunch}), "launch calls"},
      {sum({PathPart::kSyncReturn}), "return from waits"},
      {sum({PathPart::kProfiler}), "the profiler"},
      {sum({PathPart::kLaunchLatency, PathPart::kStreamGap, PathPart::kEventWait}),
       "launch latency and kernel gaps"},
      {sum({PathPart::kUnexplained, PathPart::kBefore}), "unexplained delays"},
  };
  std::ranges::stable_sort(named, std::greater{}, [](const auto& n) { return n.first; });
  std::string text;
  for (const auto& [time, name] : named) {
    const double share = ratio({time}, {all}) * 100;
    if (share < 0.5) continue;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, share);
  }
  return text;
}

CriticalPath::CriticalPath(const SheetInput& input, const TimeBase& base)
    : graph_(build_critical_graph(input, base)) {
  if (graph_.empty()) return;
  const GraphChange same(graph_);
  {
    Replayed replayed;
    replay(graph_, same, Outlook::kOptimistic, replayed);
    replay_error_ = ratio({std::abs(replayed.length - graph_.length)}, {graph_.length});
    path_ = find_path(graph_, same, replayed);
  }
  shares_ = share_path(input.store, graph_, same, path_);
  group_rows(input, same, path_);
}

std::vector<PathSegment> CriticalPath::segments() const {
  std::vector<PathSegment> all;
  all.reserve(path_.size());
  const auto at = [this](int64_t time) { return graph_.begin + Nanos{time}; };
  for (size_t i = path_.size(); i-- > 0;) {
    const PathStep& step = path_[i];
    const int64_t start = graph_.start[step.node], end = graph_.end(step.node);
    if (step.delay > 0)
      all.push_back({at(start - step.delay), at(start), {}, delay_part(graph_, step)});
    EventId event = graph_.event[step.node];
    PathPart part = node_part(graph_.kind[step.node]);
    for (const HostSlice& slice : graph_.slices_of(step.node)) {
      if (event.valid() || graph_.kind[step.node] != NodeKind::kHost) break;
      event = slice.event;
      if (event.valid()) part = PathPart::kHostOp;
    }
    if (start < end) all.push_back({at(start), at(end), event, part});
  }
  return all;
}

Nanos CriticalPath::step_time() const {
  return {graph_.length / static_cast<int64_t>(std::max<size_t>(1, graph_.steps))};
}

void CriticalPath::group_rows(const SheetInput& input, const GraphChange& same,
                              const std::vector<PathStep>& path) {
  std::unordered_map<uint64_t, size_t, TableHash> places;
  const auto row_of = [&](PathPart part, StringId name) -> PathRow& {
    const auto key = uint64_t{name.index} << 8 | static_cast<uint64_t>(part);
    const auto [found, is_new] = places.try_emplace(key, rows_.size());
    if (is_new) {
      rows_.emplace_back();
      rows_.back().part = part;
      rows_.back().name = name;
    }
    return rows_[found->second];
  };
  const auto name_of = [&](EventId e) { return e.valid() ? input.store.name_id(e) : StringId{}; };
  const std::vector<int64_t> slack = find_slack(graph_);
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    visit_parts(graph_, input.store, i, graph_.duration[i],
                [&](PathPart part, EventId e, int64_t time) {
                  PathRow& row = row_of(part, name_of(e));
                  row.total += time;
                  ++row.count;
                  row.least_slack = std::min(row.least_slack, slack[i]);
                  row.slack_sum += static_cast<double>(slack[i]);
                  if (!row.first.valid()) row.first = e;
                });
  }
  visit_path(graph_, same, path, [&](const PathStep& step, int64_t time) {
    visit_parts(graph_, input.store, step.node, time, [&](PathPart part, EventId e, int64_t own) {
      PathRow& row = row_of(part, name_of(e));
      row.on_path += own;
      ++row.on_path_count;
    });
    if (step.delay <= 0) return;
    PathRow& delays = row_of(delay_part(graph_, step), {});
    delays.on_path += step.delay;
    ++delays.on_path_count;
  });
  std::ranges::stable_sort(rows_, [](const PathRow& a, const PathRow& b) {
    return std::tuple(-a.on_path, -a.total) < std::tuple(-b.on_path, -b.total);
  });
}

Table critical_path_sheet(const SheetInput& input, const CriticalPath& path) {
  const CriticalGraph& g = path.graph();
  Table table("critical_path");
  Column& part = table.text_column("part");
  Column& name = table.text_column("name");
  Column& op = table.text_column("op of the first");
  Column& on_path = table.time_column("on path (ms)", Unit::kMillis);
  Column& percent = table.real_column("on path (%)", Unit::kPercent);
  Column& on_path_count = table.count_column("on path count");
  Column& total = table.time_column("total (ms)", Unit::kMillis);
  Column& count = table.count_column("count");
  Column& least = table.time_column("least slack (ms)", Unit::kMillis);
  Column& mean = table.real_column("mean slack (ms)", Unit::kMillis);
  RepeatBudget repeats;
  for (const PathRow& row : path.rows()) {
    part.add(path_part_name(row.part));
    row.name.valid() ? name.add(text_cell(input.store, row.name, repeats)) : name.add_unknown();
    CallId call;
    if (row.first.valid() && is_gpu_work(input.store.kind(row.first)))
      call = input.tree.enclosing_op(input.tree.launch(row.first));
    if (call.valid() && input.store.kind(input.tree.event(call)) == EventKind::kCpuOp) {
      op.add(text_cell(input.store, input.store.name_id(input.tree.event(call)), repeats));
    } else {
      op.add_unknown();
    }
    on_path.add(Nanos{row.on_path});
    percent.add(ratio({row.on_path}, {g.length}) * 100);
    on_path_count.add(row.on_path_count);
    if (row.count == 0) {  // a delay
      total.add_unknown();
      count.add_unknown();
      least.add_unknown();
      mean.add_unknown();
      continue;
    }
    total.add(Nanos{row.total});
    count.add(row.count);
    least.add(Nanos{row.least_slack});
    mean.add(row.slack_sum / static_cast<double>(row.count) / 1e6);
  }
  return table;
}

}  // namespace fathom
