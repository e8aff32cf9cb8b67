#include "analyze/tools_left_on.h"

#include <algorithm>
#include <unordered_set>

#include "analyze/place.h"
#include "base/glob.h"
#include "base/tsv.h"

extern const std::string_view frames_tsv;

namespace fathom {
namespace {

bool is_tool_file(std::string_view file) {
  static const std::vector<std::string_view> files = [] {
    std::vector<std::string_view> list;
    for (const auto& row : read_tsv(frames_tsv, 2))
      if (row[0] == "tool") list.push_back(row[1]);
    return list;
  }();
  return std::ranges::any_of(files,
                             [file](std::string_view glob) { return glob_matches(glob, file); });
}

enum class ToolFrame : uint8_t { kUnknown, kOther, kAroundOp, kEnter };

ToolFrame kind_of_frame(std::string_view name) {
  const auto frame = read_frame_name(name);
  if (!frame || !is_tool_file(frame->file)) return ToolFrame::kOther;
  if (frame->function == "__torch_dispatch__" || frame->function == "__torch_function__")
    return ToolFrame::kAroundOp;
  return frame->function == "__enter__" ? ToolFrame::kEnter : ToolFrame::kOther;
}

// The tool's frame around each op, and where the program turns it on.
struct ToolFrames {
  std::unordered_set<EventId> around_ops;
  std::vector<Nanos> begins;  // of these frames, sorted
  std::vector<CoveredEvent> enters;
  std::string_view file;
};

ToolFrames find_frames(const EventStore& store) {
  std::vector<ToolFrame> kinds(store.text_count());
  ToolFrames found;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    if (store.kind(e) != EventKind::kPython || !store.name_id(e).valid()) continue;
    ToolFrame& kind = kinds[store.name_id(e).index];
    if (kind == ToolFrame::kUnknown) kind = kind_of_frame(store.name(e));
    if (kind == ToolFrame::kAroundOp) {
      if (found.file.empty()) found.file = read_frame_name(store.name(e))->file;
      found.around_ops.insert(e);
      found.begins.push_back(store.start(e));
    }
    if (kind == ToolFrame::kEnter) found.enters.push_back({e, store.duration(e)});
  }
  std::ranges::sort(found.begins);
  return found;
}

bool is_in_frames(const CallTree& tree, const ToolFrames& tool, EventId frame) {
  constexpr int kFramesAround = 24;
  for (int i = 0; i < kFramesAround && frame.valid(); ++i, frame = tree.parent_frame(frame))
    if (tool.around_ops.contains(frame)) return true;
  return false;
}

// The op that the program calls is around the tool's frame, the one that launches is in it.
bool is_in_tool(const CallTree& tree, const ToolFrames& tool, EventId work) {
  const CallId launch = tree.launch(work);
  return launch.valid() && is_in_frames(tree, tool, tree.frame(launch));
}

}  // namespace

std::optional<ToolLeftOn> find_tool_left_on(const Assessment& a,
                                            std::span<const CoveredEvent> late) {
  constexpr double kMostOps = 0.5, kMostTime = 0.5;
  if (!a.places().has_frames() || a.calls().empty()) return {};
  const ToolFrames tool = find_frames(a.input().store);
  if (tool.around_ops.empty()) return {};
  const auto inside = std::ranges::count_if(a.calls(), [&](const AssessedCall& call) {
    return !call.op->kernels.empty() && is_in_tool(a.input().tree, tool, call.op->kernels.front());
  });
  ToolLeftOn found{
      tool.file, static_cast<double>(inside) / static_cast<double>(a.calls().size()), {}, 0};
  if (found.share < kMostOps) return {};
  // Only the idle time while its frames run is the tool's.
  Nanos all, inside_it;
  for (const CoveredEvent& event : late) {
    all += event.time;
    if (!event.event.valid()) continue;
    if (a.input().store.kind(event.event) == EventKind::kPython) {
      if (is_in_frames(a.input().tree, tool, event.event)) inside_it += event.time;
      continue;
    }
    const CallId call = a.input().tree.call(event.event);
    if (!call.valid()) continue;
    // The op that the program calls is around the tool's frames.
    const EventId host = a.input().tree.event(call);
    const auto first = std::ranges::lower_bound(tool.begins, a.input().store.start(host));
    const bool is_around = first != tool.begins.end() && *first < a.input().store.end(host);
    if (is_around || is_in_frames(a.input().tree, tool, a.input().tree.frame(call)))
      inside_it += event.time;
  }
  found.of_time = ratio(inside_it, all);
  if (found.of_time < kMostTime) return {};
  const std::vector<Place> places = a.places().places_of(tool.enters, nullptr, 1);
  if (!places.empty()) found.enter = places.front();
  return found;
}

}  // namespace fathom
