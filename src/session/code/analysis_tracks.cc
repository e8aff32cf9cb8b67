#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analyze/critical/critical_path.h"
#include "analyze/finding_parts.h"
#include "analyze/pipeline.h"
#include "base/utf8.h"
#include "session/code/convert.h"
#include "session/steady_input.h"
#include "session/summarize.h"
#include "story/run/run_story.h"
#include "tree/phases.h"

namespace fathom {
namespace {

constexpr size_t kTrackName = 200;

std::string shown_name(std::string_view name) {
  return with_unseen_escaped(cut_to_bytes(name, kTrackName));
}

AddedTrack phases_track(const SheetInput& input) {
  AddedTrack track{"phases", {}, {}};
  for (const Phase& phase : find_phases(input.store, input.tree, timeline_events(input))) {
    if (phase.kind == PhaseKind::kOther) continue;
    const std::string name =
        phase.name.empty() ? std::string(phase_kind_name(phase.kind)) : shown_name(phase.name);
    for (const PhaseRun& run : phase.runs)
      if (!run.work.empty()) track.spans.push_back({run.gpu_begin, run.gpu_end, name, {}});
  }
  return track;
}

AddedTrack idle_track(const EventStore& store, const DeviceIdle& device) {
  AddedTrack track{fmt::format("GPU {}: idle by cause", device.device.value_or(0)), {}, {}};
  for (const IdleStretch& stretch : device.stretches) {
    std::string words(idle_cause_name(stretch.cause));
    std::ranges::replace(words, '_', ' ');
    AddedTrack::Span span{stretch.when.begin, stretch.when.end, std::move(words), {}};
    if (stretch.blamed.valid())
      span.args.emplace_back("during", shown_name(store.name(stretch.blamed)));
    track.spans.push_back(std::move(span));
  }
  return track;
}

AddedTrack path_track(const EventStore& store, const CriticalPath& path) {
  AddedTrack track{"critical path", {}, {}};
  for (const PathSegment& segment : path.segments()) {
    AddedTrack::Span span{
        segment.begin, segment.end, std::string(path_part_label(segment.part)), {}};
    if (segment.event.valid())
      span.args.emplace_back("event", shown_name(store.name(segment.event)));
    track.spans.push_back(std::move(span));
  }
  return track;
}

// The longest events that a finding is about.
AddedTrack finding_track(const EventStore& store, const Finding& finding, size_t number) {
  constexpr size_t kMostSpans = 2000;
  AddedTrack track{fmt::format("finding {}: {}", number, shown_name(finding.title)), {}, {}};
  std::vector<CoveredEvent> covered = finding.covered;
  const size_t shown = std::min(covered.size(), kMostSpans);
  std::ranges::partial_sort(covered, covered.begin() + static_cast<std::ptrdiff_t>(shown),
                            [](const CoveredEvent& x, const CoveredEvent& y) {
                              return std::tuple(y.time, x.event) < std::tuple(x.time, y.event);
                            });
  covered.resize(shown);
  std::ranges::sort(covered, [&](const CoveredEvent& x, const CoveredEvent& y) {
    return std::tuple(store.start(x.event), x.event) < std::tuple(store.start(y.event), y.event);
  });
  Nanos free{INT64_MIN};
  for (const CoveredEvent& c : covered) {
    // Viewers nest what overlaps; one line of events is what is wanted.
    if (store.start(c.event) < free) continue;
    free = store.end(c.event);
    track.spans.push_back({store.start(c.event),
                           store.end(c.event),
                           shown_name(store.name(c.event)),
                           {{"issue", shown_name(finding.issue)}}});
  }
  return track;
}

// Launch calls that have returned and whose work has not begun, at each change.
std::vector<AddedTrack> queue_tracks(const SheetInput& input) {
  std::map<int32_t, std::vector<std::pair<Nanos, int>>> changes;
  for (const EventId e : input.tree.linked()) {
    if (!input.tree.has_launches()) break;
    const Nanos launched = input.store.end(input.tree.event(input.tree.launch(e)));
    const Nanos begun = input.store.start(e);
    if (begun <= launched) continue;
    auto& list = changes[input.store.gpu_work(e).device.value_or(0)];
    list.emplace_back(launched, 1);
    list.emplace_back(begun, -1);
  }
  std::vector<AddedTrack> tracks;
  for (auto& [device, list] : changes) {
    std::ranges::sort(list);
    AddedTrack track{fmt::format("GPU {}: launches waiting", device), {}, {}};
    double waiting = 0;
    for (const auto& [at, change] : list) {
      waiting += change;
      if (!track.values.empty() && track.values.back().at == at)
        track.values.back().value = waiting;
      else
        track.values.push_back({at, waiting});
    }
    tracks.push_back(std::move(track));
  }
  return tracks;
}

}  // namespace

Result<std::vector<AddedTrack>> analysis_tracks(const Trace& trace) {
  TRY(check_has_events(trace));
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  const auto steady = SteadyInput::of(input);
  const SheetInput& assessed = steady ? steady->input : input;
  std::optional<MeasuredOps> ops;
  if (!steady) ops.emplace(input, find_launchers(input));
  const Assessment assessment(assessed, steady ? steady->ops : *ops, detect_platform(trace));
  const CriticalPath path(assessed, assessment.base());
  const std::vector<Finding> findings = find_all(assessment, &path);
  std::vector<AddedTrack> tracks;
  tracks.push_back(phases_track(input));
  for (const DeviceIdle& device : assessment.idle().devices)
    tracks.push_back(idle_track(trace.store, device));
  if (path.missing().empty()) tracks.push_back(path_track(trace.store, path));
  constexpr size_t kMostFindings = 10;
  for (size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i)
    tracks.push_back(finding_track(trace.store, findings[i], i + 1));
  for (AddedTrack& track : queue_tracks(input)) tracks.push_back(std::move(track));
  std::erase_if(tracks, [](const AddedTrack& t) { return t.spans.empty() && t.values.empty(); });
  return tracks;
}

}  // namespace fathom
