#pragma once

#include <span>
#include <vector>

#include "events/event.h"

namespace fathom {

constexpr uint32_t kNoDetail = UINT32_MAX;

// The columns of a trace, held in vectors while it is read and seen through spans once sealed.
// Details that only some kinds have lie in a table of that kind, which the detail column points
// into.
template <template <typename> class Held>
struct ColumnsIn {
  Held<uint32_t> position;  // in traceEvents, from 0
  Held<Nanos> start, duration;
  Held<StringId> name;
  Held<TrackId> track;
  Held<ArgsId> args;
  Held<uint32_t> detail;
  Held<EventKind> kind;

  Held<GpuWork> gpu_work;
  Held<LaunchCall> launches;
  Held<AutogradFacts> autograd;
  Held<PythonFrame> frames;
  Held<Collective> collectives;  // in the order of their events
  Held<RecordedWait> waits;      // likewise
  Held<CounterValue> counters;   // likewise, several for each

  Held<Track> tracks;
  Held<Args> unique_args;
};

template <typename T>
using InVector = std::vector<T>;
template <typename T>
using InSpan = std::span<const T>;

using EventColumns = ColumnsIn<InVector>;
using EventViews = ColumnsIn<InSpan>;

// Calls visit(a's, b's) for each column: the only list of them beside the struct.
template <typename A, typename B, typename Visit>
void visit_columns(A& a, B& b, Visit visit) {
  visit(a.position, b.position);
  visit(a.start, b.start);
  visit(a.duration, b.duration);
  visit(a.name, b.name);
  visit(a.track, b.track);
  visit(a.args, b.args);
  visit(a.detail, b.detail);
  visit(a.kind, b.kind);
  visit(a.gpu_work, b.gpu_work);
  visit(a.launches, b.launches);
  visit(a.autograd, b.autograd);
  visit(a.frames, b.frames);
  visit(a.collectives, b.collectives);
  visit(a.waits, b.waits);
  visit(a.counters, b.counters);
  visit(a.tracks, b.tracks);
  visit(a.unique_args, b.unique_args);
}

}  // namespace fathom
