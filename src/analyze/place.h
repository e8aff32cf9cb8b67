#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/finding.h"
#include "sheets/gpu_selection.h"
#include "tree/annotations.h"

namespace fathom {

// "model.py(69): mid" of PyTorch's profiler, "$model.py:69 mid" of JAX's.
struct FrameName {
  std::string_view file, function;
  int64_t line = 0;
};
std::optional<FrameName> read_frame_name(std::string_view name);

enum class FrameOwner : uint8_t { kUser, kLibrary, kFramework };
// By data/analysis/frames.tsv; names that are no file and line are the framework's.
FrameOwner owner_of_frame(std::string_view name);

// The place of one event, as ids: what is the same has the same ids.
struct PlaceIds {
  EventId frame;   // the innermost one outside the framework; invalid: none
  EventId caller;  // the innermost one outside of libraries, where that is another
  EventId module;  // the innermost nn.Module frame
  EventId op;      // the outermost op; for a gradient that of its forward op
  EventId annotation;
  bool gradient = false;

  bool known() const { return frame.valid() || module.valid() || op.valid(); }
};

// Finds places, each frame once: the cost is linear in the trace however many events are asked for.
// Not for several threads at once.
class PlaceFinder {
 public:
  explicit PlaceFinder(const SheetInput& input);

  // Of GPU work, an op, a call or a Python frame.
  PlaceIds of(EventId event);
  Place describe(const PlaceIds& ids) const;
  // Merged by line (without frames by op), the most time first, at most `most`. `unplaced`: the
  // share of the time of events without any place.
  std::vector<Place> places_of(std::span<const CoveredEvent> events, double* unplaced = nullptr,
                               size_t most = 3);
  // Whether the trace has Python frames at all.
  bool has_frames() const { return has_frames_; }

 private:
  struct FrameFacts {
    EventId own, caller, module;
    bool known = false;
  };
  const FrameFacts& facts_of(EventId frame);
  FrameOwner owner(EventId frame);
  PlaceIds of_call(CallId call, int depth);
  PlaceIds find_of_call(CallId call);
  bool is_profiler_step(EventId event);
  std::string module_path(EventId module) const;

  const SheetInput& input_;
  bool has_frames_ = false;
  std::vector<FrameFacts> facts_;  // by event, once a frame is asked for
  std::unordered_map<StringId, FrameOwner> owners_;
  std::optional<std::unordered_map<EventId, EventId>> forward_;
  std::optional<Annotations> annotations_;
  std::vector<uint32_t> known_of_;  // by call: its place in known_, from 1; 0: not asked for yet
  std::vector<PlaceIds> known_;
  std::vector<uint8_t> step_names_;  // by name: 1 no, 2 yes, 0 not asked for yet
  FrameFacts nothing_;
};

// "model.py:69 mid"; without a frame the modules, or the op and its annotation.
std::string place_text(const Place& place);
// The same with the folders of the file left out, for a line of the screen.
std::string short_place_text(const Place& place);

// Fills places from covered.
void find_places(PlaceFinder& finder, Finding& finding);

}  // namespace fathom
